import Foundation
import ReactorClient
import ReactorCore
import ReactorJournal
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon
@testable import ReactorServer

/// An action of `fickle-daemon`.
@WireCodable
private enum FickleAction: Sendable {
    case add(by: Int)
}

/// A daemon whose `reduce` was changed after its history was written.
@Suite("A history that today's reactors replay to another state", .timeLimit(.minutes(10)))
struct DivergenceTests {
    private static let program = "fickle-daemon"
    private static let changed = ["FICKLE_SURCHARGE": "1"]

    private let home = TestDirectory()

    private var config: String {
        "data:\n  directory: \(home.path("data"))\n  durability: relaxed\n"
    }

    private func start(_ environment: [String: String] = [:]) async throws -> Reactorctl {
        Reactorctl(
            daemon: try await DaemonProcess.start(
                Self.program, config: config, environment: environment, in: home))
    }

    /// Makes the unchanged daemon count until its journal contains a probe's checksums; returns
    /// the probe's sequence, and the count.
    private func makeHistory() async throws -> (probed: UInt64, count: Int) {
        var count = 0
        for _ in 1...20 {
            let reactorctl = try await start()
            let client = try await Client.connect(to: reactorctl.daemon.socketPath)
            for _ in 1...ProbeSchedule.turnsMax + 50 {
                let outcome = try await client.dispatch("/", FickleAction.add(by: 1))
                #expect(outcome.revision != nil)
                count += 1
            }
            client.close()
            await reactorctl.daemon.kill9()
            // Checksums are computed on another thread, and may have come too late.
            if let probed = try probedSequence() { return (probed, count) }
        }
        throw DaemonProcess.Failure(reason: "writes down no sums", log: "")
    }

    /// The sequence of the first probe whose checksums are in the journal.
    private func probedSequence() throws -> UInt64? {
        let directory = try DataDirectory(at: home.path("data"))
        try SQLiteJournal.prepare(directory)
        let reader = try JournalReader(directory)
        var probed: UInt64?
        while let row = try reader.next() {
            for fact in try TurnFact.list(row.facts.span) {
                switch fact {
                case .layout: probed = nil
                case .probe: probed = row.sequence
                case .sums: if let probed { return probed }
                default: break
                }
            }
        }
        return nil
    }

    @Test("J70: the start is refused with path and sequence; rebaseline accepts it in a new epoch")
    func refused() async throws {
        let (probed, count) = try await makeHistory()
        let files = try home.dataFiles()
        let refused = try await DaemonProcess.run(
            Self.program, config: config, environment: Self.changed, in: home)
        #expect(refused.ending == .exited(78))
        let reason = "/: replayed up to sequence \(probed), the state is not the recorded one"
        #expect(refused.log.contains(reason), "\(refused.log)")
        #expect(refused.log.contains("`reactord rebaseline` starts from the replayed state"))
        #expect(!refused.log.contains("ready"))
        #expect(try home.dataFiles() == files)
        let checked = try await DaemonProcess.run(
            Self.program, config: config, arguments: ["--check"], environment: Self.changed,
            in: home)
        #expect(checked.ending == .exited(78) && checked.output.contains("is refused: " + reason))
        #expect(try home.dataFiles() == files)
        // The refused start has changed nothing, so the unchanged reactors continue.
        let before = try await start()
        #expect(try await before("get", "/count").output == "\(count)\n")
        let old = try await before("get", "--revision", "/").output
        await before.daemon.kill9()
        let path = try home.write(config, to: "offline.yaml")
        let accepted = try ChildProcess(
            Built.product(Self.program), ["rebaseline", "--config", path],
            environment: Self.changed, in: home, name: "rebaseline")
        #expect(await accepted.ended() == .exited(0), "\(accepted.errors)")
        #expect(accepted.output.contains("took a snapshot of row"))
        let after = try await start(Self.changed)
        #expect(try await after("get", "/count").output == "\(2 * count)\n")
        #expect(try await after("get", "--revision", "/").output.prefix(30) != old.prefix(30))
        #expect(try await after("dispatch", "/", #"{"add":{"by":1}}"#).code == 0)
        await after.daemon.kill9()
        let again = try await start(Self.changed)
        #expect(try await again("get", "/count").output == "\(2 * count + 2)\n")
        #expect(await again.daemon.stop() == .exited(0))
    }

    // MARK: Short journals

    /// Makes the unchanged daemon apply one action.
    private func makeShortHistory() async throws -> Reactorctl {
        let reactorctl = try await start()
        #expect(try await reactorctl("dispatch", "/", #"{"add":{"by":1}}"#).code == 0)
        return reactorctl
    }

    private func run(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) async throws -> ChildProcess {
        let path = try home.write(config, to: "offline.yaml")
        let child = try ChildProcess(
            Built.product(Self.program), arguments + ["--config", path], environment: environment,
            in: home, name: UUID().uuidString)
        _ = await child.ended()
        return child
    }

    @Test("J70: after one action and a clean stop, a changed reduce is refused, until a rebaseline")
    func shortAndClean() async throws {
        let first = try await makeShortHistory()
        #expect(await first.daemon.stop() == .exited(0))
        let reason = "/: replayed up to sequence 1, the state is not the recorded one"
        let refused = try await DaemonProcess.run(
            Self.program, config: config, environment: Self.changed, in: home)
        #expect(refused.ending == .exited(78))
        #expect(refused.log.contains(reason), "\(refused.log)")
        #expect(refused.log.contains("before the snapshot of row"), "\(refused.log)")
        let checked = try await run(["--check"], Self.changed)
        #expect(checked.errors.contains(reason), "\(checked.errors)")
        let unchanged = try await run(["--check"])
        #expect(
            unchanged.output.contains("verified the rows before the snapshot"),
            "\(unchanged.output)")
        let accepted = try await run(["rebaseline"], Self.changed)
        #expect(accepted.output.contains("took a snapshot of row"), "\(accepted.errors)")
        let after = try await start(Self.changed)
        #expect(try await after("get", "/count").output == "1\n")
        #expect(try await after("dispatch", "/", #"{"add":{"by":1}}"#).code == 0)
        #expect(await after.daemon.stop() == .exited(0))
        let again = try await start(Self.changed)
        #expect(try await again("get", "/count").output == "3\n")
        #expect(await again.daemon.stop() == .exited(0))
    }

    @Test("J70: a start without changes writes no checksums, and an unchanged reduce goes on")
    func shortAndUnchanged() async throws {
        let first = try await makeShortHistory()
        #expect(await first.daemon.stop() == .exited(0))
        for count in 1...3 {
            let next = try await start()
            #expect(try await next("get", "/count").output == "\(count)\n")
            if count < 3 {
                #expect(try await next("dispatch", "/", #"{"add":{"by":1}}"#).code == 0)
            }
            #expect(await next.daemon.stop() == .exited(0))
        }
        let rows = try rowCount()
        let idle = try await start()
        // Before it serves clients, a signal ends the start without a row.
        #expect(try await idle("get", "/count").output == "3\n")
        #expect(await idle.daemon.stop() == .exited(0))
        // The row of the start.
        let added = try texts(after: rows)
        #expect(added.count == 1, "\(added)")
    }

    /// The facts of the rows after `number`, row by row.
    private func texts(after number: UInt64) throws -> [String] {
        let directory = try DataDirectory(examining: home.path("data"))
        let reader = try JournalReader(directory)
        var texts: [String] = []
        while let row = try reader.next() {
            guard row.number > number else { continue }
            texts.append("\(row.sequence): \(try TurnFact.list(row.facts.span))")
        }
        return texts
    }

    private func rowCount() throws -> UInt64 {
        let directory = try DataDirectory(examining: home.path("data"))
        return try JournalReader(directory).verifyRest().number
    }

    @Test("J70: rows before the snapshot are not verified if they are large, and --check says so")
    func longAndClean() async throws {
        let first = try await start()
        let client = try await Client.connect(to: first.daemon.socketPath)
        // At once: a checksum is recorded a minute after the first.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    let outcome = try await client.atomically { batch in
                        for _ in 0..<1_000 { batch.send(FickleAction.add(by: 1), to: "/") }
                    }
                    #expect(outcome.revision != nil)
                }
            }
            try await group.waitForAll()
        }
        client.close()
        #expect(await first.daemon.stop() == .exited(0))
        let text = "unverified before the snapshot: rows 1 to "
        let checked = try await run(["--check"], Self.changed)
        #expect(checked.output.contains(text), "\(checked.output)")
        #expect(checked.output.contains("more than \(EarlierRows.byteCountMax) bytes"))
        let next = try await start(Self.changed)
        #expect(try await next("get", "/count").output == "40000\n")
        #expect(await next.daemon.stop() == .exited(0))
        #expect(next.daemon.log.contains("rows before the snapshot are unverified"))
    }

    @Test("J70: after kill -9, the start, --check and the doctor name the rows without checksums")
    func shortAndKilled() async throws {
        let first = try await start()
        // A checksum is recorded a minute after the action.
        let script = #"client dispatch / '{"add":{"by":1}}'; kill -9 $DAEMON"#
        #expect(try await first.run(script: script).code == 0)
        #expect(await first.daemon.ended() == .killed(signal: 9))
        let text = "1 row, of sequence 1: no checksum of the state follows them"
        let checked = try await run(["--check"])
        #expect(checked.output.contains("unverified: \(text)"), "\(checked.output)")
        let doctor = try ChildProcess(
            Built.product(Self.program), ["doctor", home.path("data")], in: home, name: "doctor")
        #expect(await doctor.ended() == .exited(0))
        #expect(doctor.output.contains("unverified: \(text)"), "\(doctor.output)")
        #expect(try HistoryDoctor(of: home.path("data")).lines.contains("unverified: \(text)"))
        let next = try await start()
        #expect(try await next("get", "/count").output == "1\n")
        #expect(await next.daemon.stop() == .exited(0))
        #expect(next.daemon.log.contains("replayed rows are unverified"), "\(next.daemon.log)")
        #expect(next.daemon.log.contains("1 row, of sequence 1"), "\(next.daemon.log)")
        let after = try await run(["--check"])
        #expect(!after.output.contains("unverified"), "\(after.output)")
    }
}
