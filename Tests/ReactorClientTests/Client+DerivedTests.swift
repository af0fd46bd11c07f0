import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

/// Counters, with their sum.
@Reactor
struct Turnstiles {
    @Children var gates = { (_: Int) in StockReactors.Counter() }
    @Derived var passed = Derivation.sum(over: \Turnstiles.$gates) { $0.count }
    @Derived var busy = Derivation(of: \Turnstiles.$passed) { _, passed in
        Busy(isBusy: passed > 2)
    }

    enum Action { case open(Int) }
    struct State {}

    func mutate(action: Action) -> Mutations<Action> {
        switch action {
        case .open(let gate): Mutations.none.creating($gates, gate)
        }
    }
}

@WireCodable
struct Busy: Equatable, Sendable { var isBusy: Bool }

@Suite("Mirrors of derived values", .timeLimit(.minutes(10)))
struct ClientDerivedTests {
    @Test("a derived value is mirrored by its type, with the mirrors of its children")
    func mirrors() async throws {
        let server = try LiveServer(Turnstiles())
        let client = try await Client.connect(to: server.path)
        let root = try await client.mirror(Turnstiles.self, at: "/")
        #expect(await root.dispatch(.open(1)).revision != nil)
        let gate = try await client.mirror(StockReactors.Counter.self, at: "/gates/1")
        let passed = try await client.mirror(derived: Int64.self, at: "/passed")
        let busy = try await client.mirror(\.$busy, of: ReactorPath(Turnstiles.self))
        #expect(passed.state == 0 && busy.isBusy == false && busy.path == "/busy")
        for count in 1...3 {
            #expect(await gate.dispatch(.increment(by: 1)).revision != nil)
            let (shown, sum) = client.read(gate, passed) { ($0.count, $1) }
            #expect(shown == sum && sum == Int64(count))
        }
        #expect(busy.state == Busy(isBusy: true))
        #expect(try await client.get("/").value?["passed"]?.json() == "3")
        client.close()
    }

    @Test("a value of another type, and a path without one, are errors that name the path")
    func refusals() async throws {
        let server = try LiveServer(Turnstiles())
        let client = try await Client.connect(to: server.path)
        let other = await #expect(throws: ClientError.self) {
            _ = try await client.mirror(derived: Busy.self, at: "/passed")
        }
        #expect(
            other
                == .otherReactor(path: "/passed", expected: "derived Busy", actual: "derived Int64")
        )
        let missing = await #expect(throws: ClientError.self) {
            _ = try await client.mirror(derived: Int.self, at: "/lost")
        }
        #expect(missing?.description.contains("/lost") ?? false)
        client.close()
    }
}
