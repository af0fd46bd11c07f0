import Foundation
import ReactorClient
import ReactorCore
import ReactorThreads
import StockReactors
import Synchronization
import TestPrograms
import Testing

/// A real daemon with a data directory, killed under load, and a ledger outside the daemon.
@Suite("A daemon that is killed", .timeLimit(.minutes(10)))
struct DaemonKillTests {
    private static let killCount = 10

    /// The promises: revisions of acknowledged actions, and the keys that these set.
    private final class Ledger: Sendable {
        private let entries = Guarded<(acks: [Revision], keys: Set<String>, odd: [String])>(
            ([], [], []))
        let isOver = Atomic(false)

        var count: Int { entries.withLock { $0.acks.count } }
        var acks: [Revision] { entries.withLock { $0.acks } }
        var keys: Set<String> { entries.withLock { $0.keys } }
        var odd: [String] { entries.withLock { $0.odd } }

        func note<Reply>(_ outcome: DispatchOutcome<Reply>, _ key: String? = nil) {
            entries.withLock { entries in
                guard let revision = outcome.revision else {
                    return entries.odd.append("\(outcome)")
                }
                entries.acks.append(revision)
                if let key { entries.keys.insert(key) }
            }
        }

        /// Waits for this number of acknowledgements.
        func reaches(_ wanted: Int) async { _ = await holds { count >= wanted } }
    }

    private static func start(in directory: TestDirectory) async throws -> DaemonProcess {
        let config = """
            data:
              directory: \(directory.path("data"))
            \(DaemonProcess.example)
            """
        return try await DaemonProcess.start(config: config, in: directory)
    }

    /// A client that outlives the daemon, and reconnects quickly.
    private static func connect(to daemon: DaemonProcess) async throws -> Client {
        var options = ClientOptions(program: "writer")
        options.keepsTrying = true
        options.pauseMin = 1_000_000
        options.pauseMax = 20_000_000
        return try await Client.connect(to: daemon.socketPath, options: options)
    }

    @Test("C85, C86: after ten kills under load no acknowledged action is lost and none is doubled")
    func killed() async throws {
        let directory = TestDirectory()
        var daemon = try await Self.start(in: directory)
        let client = try await Self.connect(to: daemon)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let settings = try await client.mirror(Map.self, at: "/settings")
        let ledger = Ledger()
        let writers = (0..<8).map { writer in
            Task {
                var index = 0
                while !ledger.isOver.load(ordering: .relaxed) {
                    index += 1
                    let key = "\(writer)-\(index)"
                    ledger.note(await visits.dispatch(.increment(by: 1)))
                    ledger.note(await settings.dispatch(.set(key: WireKey(key), value: .null)), key)
                }
            }
        }
        for _ in 0..<Self.killCount {
            await ledger.reaches(ledger.count + Int.random(in: 20...400))
            await daemon.kill9()
            daemon = try await Self.start(in: directory)
        }
        ledger.isOver.store(true, ordering: .relaxed)
        for writer in writers { await writer.value }
        #expect(ledger.odd == [])
        let acks = ledger.acks
        #expect(Set(acks).count == acks.count && Set(acks.map(\.epoch)).count == 1)
        #expect(visits.count == Int64(acks.count - ledger.keys.count))
        #expect(Set(settings.entries.map(\.key.text)) == ledger.keys)
        #expect(client.statistics.rollbacks == 0)
        #expect(try await visits.verify())
        #expect(try await settings.verify())
        client.close()
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
    }

    @Test("J48: snapshots requested under load contain exactly the state of their rows")
    func snapshots() async throws {
        let directory = TestDirectory()
        var daemon = try await Self.start(in: directory)
        let client = try await Self.connect(to: daemon)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let ledger = Ledger()
        async let sent: Int64 = {
            var sent: Int64 = 0
            while !ledger.isOver.load(ordering: .relaxed) {
                if visits.send(.increment(by: 1)) { sent += 1 } else { await Task.yield() }
            }
            return sent
        }()
        for round in 0..<4 {
            let control = Reactorctl(daemon: daemon)
            for _ in 0..<3 {
                let run = try await control("snapshot")
                #expect(run.code == 0, "\(run.errors)")
            }
            if round < 3 {
                await daemon.kill9()
                daemon = try await Self.start(in: directory)
            }
        }
        ledger.isOver.store(true, ordering: .relaxed)
        let count = await sent
        try await client.drain()
        #expect(visits.count == count)
        client.close()
        await daemon.kill9()
        daemon = try await Self.start(in: directory)
        let reply = try await Reactorctl(daemon: daemon)("get", "/visits")
        #expect(reply.output.contains("\(count)"), "\(reply.output), sent \(count)")
        #expect(await daemon.stop() == .exited(0))
    }
}
