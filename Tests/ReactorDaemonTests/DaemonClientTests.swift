import Foundation
import ReactorCore
import StockReactors
import TestPrograms
import Testing

@testable import ReactorClient

/// Clients in Swift with a real daemon that stops and restarts.
@Suite("A client of the daemon", .timeLimit(.minutes(10)))
struct DaemonClientTests {
    private typealias Counter = StockReactors.Counter

    /// A configuration with a reactor of each kind.
    private static let everything =
        "reactors:\n"
        + StockKind.allCases.map { "  \($0.rawValue):\n    kind: \($0.rawValue)\n" }.joined()

    private func connect(_ daemon: DaemonProcess) async throws -> Client {
        var options = ClientOptions(program: "tests")
        options.pauseMin = 1_000_000
        options.pauseMax = 50_000_000
        return try await Client.connect(to: daemon.socketPath, options: options)
    }

    @Test("every kind can be mirrored by its type")
    func kinds() async throws {
        let daemon = try await DaemonProcess.start(config: Self.everything)
        let client = try await connect(daemon)
        let counter = try await client.mirror(Counter.self, at: "/counter")
        let value = try await client.mirror(Value.self, at: "/value")
        let map = try await client.mirror(Map.self, at: "/map")
        let list = try await client.mirror(List.self, at: "/list")
        let set = try await client.mirror(MemberSet.self, at: "/set")
        let presence = try await client.mirror(Presence.self, at: "/presence")
        let lock = try await client.mirror(StockReactors.Lock.self, at: "/lock")
        let queue = try await client.mirror(Queue.self, at: "/queue")

        #expect(await counter.dispatch(.increment(by: 2)).revision != nil)
        #expect(await map.dispatch(.set(key: "theme", value: "dark")).revision != nil)
        #expect(await list.dispatch(.append(value: 5)).revision != nil)
        guard case .applied(_, let grant?) = await lock.dispatch(.acquire()) else {
            Issue.record("a free lock was not granted")
            return
        }
        #expect(counter.count == 2 && map.entries["theme"] == "dark" && list.items.count == 1)
        #expect(lock.holder?.token == grant.token)
        let phases = [value.phase, set.phase, presence.phase, queue.phase]
        #expect(phases == [ClientPhase](repeating: .live, count: 4))
        client.close()
        #expect(await daemon.stop() == .exited(0))
    }

    /// Figures of a program that has nothing to do with settings; every field has a default.
    @Reactor
    struct Stats {
        enum Action { case sample(Int64) }

        struct State: Equatable {
            var total: Int64 = 5
            var name = "none"
        }

        func reduce(state: inout State, mutation: Action) {}
    }

    @Test("a mirror of a type that is not at the path fails and names both")
    func wrongMirror() async throws {
        let daemon = try await DaemonProcess.start()
        let client = try await connect(daemon)
        await #expect(
            throws: ClientError.otherReactor(path: "/settings", expected: "Stats", actual: "Map")
        ) {
            _ = try await client.mirror(Stats.self, at: "/settings")
        }
        await #expect(throws: ClientError.self) {
            _ = try await client.mirror(value: Stats.State.self, at: "/settings")
        }
        let settings = try await client.mirror(value: Map.State.self, at: "/settings")
        let map = try await client.mirror(Map.self, at: "/settings")
        #expect(await map.dispatch(.set(key: "theme", value: "dark")).revision != nil)
        #expect(settings.value == map.state && settings.phase == .live)
        client.close()
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("C90: after a crash and restart mirrors and watchers continue with the new history")
    func crash() async throws {
        let first = try await DaemonProcess.start()
        let client = try await connect(first)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        var counts = client.watch("/visits/count").makeAsyncIterator()
        #expect(try await counts.next()?.value == 0)
        #expect(await visits.dispatch(.increment(by: 3)).revision != nil)
        #expect(try await counts.next()?.value == 3)
        let before = visits.revision
        await first.kill9()
        await wait(for: visits) { $0.phase == .connecting }
        #expect(visits.count == 3)
        let second = try await DaemonProcess.start(in: first.directory)
        await wait(for: visits) { $0.phase == .live }
        #expect(visits.count == 0 && visits.revision.epoch != before.epoch)
        #expect(try await counts.next()?.value == 0)
        let outcome = await visits.dispatch(.increment(by: 1))
        #expect(outcome.revision?.epoch == visits.revision.epoch && visits.count == 1)
        await #expect(throws: ClientError.self) { try await visits.reached(before) }
        client.close()
        #expect(await second.stop() == .exited(0))
    }

    @Test("a drain leaves no action without an outcome")
    func drain() async throws {
        let daemon = try await DaemonProcess.start()
        let client = try await connect(daemon)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let sender = Task {
            var applied: Int64 = 0
            while await visits.dispatch(.increment(by: 1)).revision != nil { applied += 1 }
            return applied
        }
        await wait(for: visits) { $0.count >= 50 }
        #expect(await daemon.stop() == .exited(0))
        client.close()
        let applied = await sender.value
        #expect(applied >= 50 && visits.count == applied)
    }

    private func wait<R: Reactor>(
        for mirror: ReactorClient.Mirror<R>,
        until condition: (ReactorClient.Mirror<R>) -> Bool
    ) async {
        while true {
            let version = mirror.changed.version
            if condition(mirror) { return }
            await mirror.changed.change(after: version)
        }
    }
}
