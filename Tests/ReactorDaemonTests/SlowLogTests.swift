import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon

/// Drives ``ConfigSlowLog``.
@Suite("SlowLog", .timeLimit(.minutes(10)))
struct SlowLogTests {
    private func log(entriesMax: Int) -> SlowLog {
        var config = SlowLogConfig()
        config.entriesMax = entriesMax
        return SlowLog(config)
    }

    @Test(
        "entries are numbered, and above the maximum the oldest is dropped", arguments: [1, 3, 7])
    func ring(entriesMax: Int) {
        var log = log(entriesMax: entriesMax)
        for count in 1...20 {
            log.add(.of(.turn, UInt64(count)))
            let numbers = log.entries(after: 0).map(\.number)
            let first = max(1, count - entriesMax + 1)
            #expect(numbers == (first...count).map(UInt64.init))
            #expect(log.entries(after: 0).map(\.nanoseconds) == numbers)
        }
        #expect(log.entries(after: 19).map(\.number) == [20])
        #expect(log.entries(after: 20).isEmpty && log.entries(after: .max).isEmpty)
        #expect(log.counts == [.turn: 20])
    }

    @Test("the log of a former process comes first, and later entries get later numbers")
    func restored() {
        var former = log(entriesMax: 5)
        for count in 1...9 { former.add(.of(.turn, UInt64(count))) }
        var log = log(entriesMax: 3)
        log.add(.of(.commit, 100))
        log.restore(former.entries(after: 0))
        #expect(log.entries(after: 0).map(\.number) == [8, 9, 10])
        #expect(log.entries(after: 0).map(\.nanoseconds) == [8, 9, 100])
        log.add(.of(.turn, 101))
        #expect(log.entries(after: 0).map(\.number) == [9, 10, 11])
        // The counters begin at 0 with each process.
        #expect(log.counts == [.commit: 1, .turn: 1])
        log.restore([])
        #expect(log.entries(after: 0).map(\.number) == [1, 2, 3])
    }

    @Test("a threshold of zero keeps no operation of its kind")
    func thresholds() {
        var config = SlowLogConfig()
        config.turns = .zero
        let log = SlowLog(config)
        #expect(log.threshold(of: .turn) == .max)
        #expect(log.threshold(of: .actions) == 10_000_000)
    }

    @Test("every key is read, and a mistake is refused with the expected value")
    func keys() throws {
        let text =
            "slowLog: { actions: 1ms, turns: 2ms, commits: 3ms, questions: 0s, entriesMax: 9 }\n"
        let config = try DaemonConfig(yaml: text + oneReactor, file: "r.yaml").slowLog
        #expect(config.actions == .milliseconds(1) && config.turns == .milliseconds(2))
        #expect(config.commits == .milliseconds(3) && config.questions == .zero)
        #expect(config.entriesMax == 9)
        let lines = refusals(
            "slowLog: { actions: 5, entriesMax: 0, trns: 1ms }\n" + oneReactor)
        #expect(lines.count == 3 && lines[2].contains("did you mean turns?"))
    }

    @Test("slow actions are shown with client, path and number, and turns and commits with theirs")
    func command() async throws {
        let directory = TestDirectory()
        let daemon = try await DaemonProcess.start(
            config: DaemonProcess.example + """

                data:
                  directory: \(directory.path("data"))
                # A busy daemon records hundreds of turns before the command reads them.
                slowLog:
                  { actions: 1us, turns: 1us, commits: 1us, questions: 1us, entriesMax: 10000 }
                """, in: directory)
        let reactorctl = Reactorctl(daemon: daemon)
        _ = try await reactorctl("dispatch", "/visits", #"{"increment":{"by":5}}"#)
        _ = try await reactorctl("get", "/visits", "--at", "1")
        let run = try await reactorctl("slowlog")
        #expect(run.code == 0)
        let entries = try run.output.split(separator: "\n").compactMap { line -> WireMap? in
            guard case .map(let map) = try WireValue(json: String(line)) else { return nil }
            return map
        }
        let actions = entries.filter { $0["kind"] == "actions" }
        #expect(actions.count == 1)
        #expect(actions.first?["path"] == "/visits" && actions.first?["actions"] == 1)
        #expect(actions.first?["pid"] != nil && actions.first?["mixed"] == nil)
        #expect(entries.contains { $0["kind"] == "turn" && $0["actions"] == 1 })
        #expect(entries.contains { $0["kind"] == "commit" && $0["bytes"] != nil })
        #expect(
            entries.contains {
                $0["kind"] == "question" && $0["question"] == "past" && $0["path"] == "/visits"
            })
        let metrics = try await reactorctl("metrics").output
        #expect(metrics.contains("reactord_slow_total{kind=\"actions\"} 1\n"))
    }
}
