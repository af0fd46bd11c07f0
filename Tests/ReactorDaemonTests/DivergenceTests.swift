import ReactorClient
import ReactorCore
import ReactorJournal
import ReactorWire
import TestPrograms
import Testing

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
}
