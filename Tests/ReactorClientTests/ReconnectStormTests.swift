import ReactorCore
import ReactorLoop
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// More than a hundred real clients whose daemon ends and starts again.
@Suite("A storm of real clients", .timeLimit(.minutes(10)))
struct ReconnectStormTests {
    private typealias Action = StockReactors.Counter.Action
    // Foundation's `Process`, by which other tests start programs, reads past the end of a
    // directory's entries if its own process has some 1,350 files open.
    private static let count = 120

    /// A pause that a client drew, and the number of the attempt after it.
    private struct Pause: Hashable {
        var client: Int
        var attempt: Int
        var nanoseconds: UInt64
    }

    private static var options: ClientOptions {
        var options = ClientOptions()
        options.pauseMin = 100_000_000
        options.pauseMax = 1_000_000_000
        options.keepsTrying = true
        return options
    }

    private static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.connectionsPerUIDMax = 2 * count
        return limits
    }

    /// Connects all clients at once, and opens the same node for each.
    private func crowd(
        of server: LiveServer, on loop: EventLoop
    ) throws -> (clients: [LoopClient], nodes: [NodeID]) {
        let clients = try (0..<Self.count).map { _ in
            try LoopClient(on: loop, to: server.path, options: Self.options)
        }
        var nodes: [NodeID] = []
        for client in clients {
            client.start { _ in }
            client.act { machine in
                machine.open("/visits") { if let node = try? $0.get() { nodes.append(node) } }
            }
        }
        try loop.turn { nodes.count == Self.count }
        return (clients, nodes)
    }

    @Test("C84: hundreds of clients reconnect spread out, are admitted in turns, and lose nothing")
    func storm() throws {
        DescriptorLimit.raise(to: 4 * Self.count)
        let server = try LiveServer(limits: Self.limits)
        let loop = try EventLoop()
        let (clients, nodes) = try crowd(of: server, on: loop)
        let first = try #require(server.peek { $0.accepts })
        #expect(first.all >= Self.count)
        #expect(first.most <= Listener.acceptsPerTurnMax)

        server.stop()
        var pauses: Set<Pause> = []
        func look() {
            for (index, client) in clients.enumerated() where client.machine.figures.attempts > 0 {
                pauses.insert(
                    Pause(
                        client: index, attempt: client.machine.figures.attempts,
                        nanoseconds: client.machine.figures.lastPause))
            }
        }
        try loop.turn {
            look()
            return clients.allSatisfy { $0.machine.figures.attempts > 0 }
        }
        var outcomes = 0
        for (client, node) in zip(clients, nodes) {
            try client.machine.dispatch(Action.increment(by: 1), to: node) { outcome in
                if case .applied = outcome { outcomes += 1 }
            }
        }

        let next = try LiveServer(in: server.folder, limits: Self.limits)
        try loop.turn {
            look()
            return outcomes == Self.count
        }
        check(pauses)
        let second = try #require(next.peek { ($0.accepts, $0.connectionCount, $0.actionCount) })
        #expect(second.0.all >= Self.count && second.0.most <= Listener.acceptsPerTurnMax)
        #expect(second.1 == Self.count && second.2 == UInt64(Self.count))
        for client in clients { client.close() }
        loop.turn(.noWait)
        loop.close()
    }

    /// Checks that pauses are within the options' range, and spread over it.
    private func check(_ pauses: Set<Pause>) {
        let options = Self.options
        for pause in pauses {
            let longest = min(options.pauseMin << UInt64(pause.attempt), options.pauseMax)
            #expect(options.pauseMin...longest ~= pause.nanoseconds, "\(pause)")
        }
        #expect(Set(pauses.map(\.client)).count == Self.count)
        let drawn = pauses.filter { $0.attempt == 1 }.map(\.nanoseconds)
        // On an overloaded machine, the test may have missed some pauses.
        #expect(drawn.count > Self.count / 2)
        #expect(Set(drawn).count > drawn.count * 9 / 10)
        let perTenth = drawn.reduce(into: [UInt64: Int]()) { counts, pause in
            counts[(pause - options.pauseMin) / (options.pauseMin / 10), default: 0] += 1
        }
        // A tenth of the pauses is expected in each part, and chance adds some.
        #expect((perTenth.values.max() ?? 0) < drawn.count / 3, "\(perTenth)")
        #expect(perTenth.count >= 9, "\(perTenth)")
    }
}
