import ReactorCore
import ReactorServer
import Testing

@testable import ReactorClient

/// A mirror shows what the daemon shows, through every kind of presentation of a state.
@Suite("The presentation in a mirror", .timeLimit(.minutes(10)))
struct MirrorPresentationTests {
    /// A daemon, kept alive by this value, with a client and its mirror.
    private struct Served {
        let server: LiveServer
        let client: Client
        let mirror: ReactorClient.Mirror<Gauge>
    }

    private func start(
        _ gauge: Gauge
    ) async throws -> Served {
        let server = try LiveServer(gauge)
        let client = try await Client.connect(to: server.path)
        return Served(
            server: server, client: client,
            mirror: try await client.mirror(Gauge(states: gauge.states), at: "/"))
    }

    /// The root's number as `reactorctl get` shows it.
    private func got(_ client: Client) async throws -> WireValue? {
        try await client.get("/value").value
    }

    private static let large: Gauge.States = { $0.stream { $0.filter { $0.value > 1 } } }

    @Test("F24: a mirror shows the values that a stream lets through, as get does, and no others")
    func stream() async throws {
        let served = try await start(Gauge(states: Self.large))
        let mirror = served.mirror
        #expect(mirror.id == nil)
        try await mirror.dispatch(.set(1)).get()
        #expect(try await got(served.client) == 0)
        #expect(mirror.value == 0)
        try await mirror.dispatch(.set(5)).get()
        await mirror.until { $0.value == 5 }
        #expect(try await got(served.client) == 5)
        try await mirror.dispatch(.set(1)).get()
        #expect(try await got(served.client) == 5)
        #expect(mirror.value == 5)
        let newcomer = try await served.client.mirror(Gauge(states: Self.large), at: "/")
        #expect(newcomer.value == 5)
        served.client.close()
    }

    @Test("F24: a mirror shows the daemon's presentation, even if its own reactor has another")
    func otherArguments() async throws {
        let server = try LiveServer(Gauge(states: Self.large))
        let client = try await Client.connect(to: server.path)
        let mirror = try await client.mirror(Gauge(), at: "/")
        try await mirror.dispatch(.set(1)).get()
        #expect(try await got(client) == 0 && mirror.value == 0)
        client.close()
    }

    @Test("F24: a state that the transform drops is shown to no client, not even to a new one")
    func dropped() async throws {
        let even: Gauge.States = { $0.filter { $0.value % 2 == 0 } }
        let served = try await start(Gauge(states: even))
        let mirror = served.mirror
        for value in [2, 3] { try await mirror.dispatch(.set(value)).get() }
        #expect(try await got(served.client) == 2 && mirror.value == 2)
        let other = try await Client.connect(to: served.server.path)
        #expect(try await other.mirror(Gauge(states: even), at: "/").value == 2)
        other.close()
        served.client.close()
    }

    @Test("F24: a mirror maps each state itself, from the mutations, and previews the result")
    func mapped() async throws {
        let more: Gauge.States = { $0.map { Gauge.State(value: $0.value + 1) } }
        let served = try await start(Gauge(states: more))
        let mirror = served.mirror
        #expect(mirror.id != nil)
        try await mirror.dispatch(.set(2)).get()
        #expect(try await got(served.client) == 3 && mirror.value == 3)
        await served.server.hold()
        #expect(mirror.send(.set(7), isPreviewed: true))
        #expect(mirror.value == 8)
        await served.server.release()
        served.client.close()
    }

    @Test(
        "F24: a mirror that follows the value previews nothing, and sends the action all the same")
    func noPreview() async throws {
        let served = try await start(Gauge(states: Self.large))
        let mirror = served.mirror
        await served.server.hold()
        let outcome = Task { await mirror.dispatch(.set(7), isPreviewed: true) }
        await served.server.until { $0.actionCount == 1 }
        #expect(mirror.value == 0)
        await served.server.release()
        #expect(await outcome.value.revision != nil)
        await mirror.until { $0.value == 7 }
        served.client.close()
    }

    @Test("F24: a mirror of other types does not transform a value again")
    func otherTypes() async throws {
        let server = try LiveServer(OtherVersion.Gauge())
        let client = try await Client.connect(to: server.path)
        let more: Gauge.States = { $0.map { Gauge.State(value: $0.value + 1) } }
        let mirror = try await client.mirror(Gauge(states: more), at: "/")
        try await client.dispatch("/", OtherVersion.Gauge.Action.set(2)).get()
        await mirror.until { $0.value == 3 }
        #expect(try await got(client) == 3)
        client.close()
    }

    @Test("F24: a mirror shows one node of a composed value, as the node presents itself")
    func composed() async throws {
        let far: @Sendable (Transform<Dial.State>) -> Transform<Dial.State> = {
            $0.stream { $0.filter { $0 == .at(9) } }
        }
        let gauge = Gauge(first: Dial(states: far), states: Self.large)
        let served = try await start(gauge)
        let mirror = served.mirror
        let first = try await served.client.mirror(Dial(states: far), at: "/first")
        let second = try await served.client.mirror(Dial(), at: "/second")
        #expect(mirror.id == nil && first.id == nil && second.id != nil)
        for place in [4, 9, 5] {
            try await first.dispatch(.turn(place)).get()
            try await second.dispatch(.turn(place)).get()
        }
        await first.until { $0.state == .at(9) }
        #expect(second.state == .at(5) && mirror.state == Gauge.State())
        #expect(
            try await served.client.get("/").value
                == ["first": ["at": 9], "second": ["at": 5], "value": 0])
        served.client.close()
    }

    @Test("F24: a mirror that follows a value does so after a lost connection too")
    func reconnects() async throws {
        let served = try await start(Gauge(states: Self.large))
        let mirror = served.mirror
        try await mirror.dispatch(.set(5)).get()
        await mirror.until { $0.value == 5 }
        await served.server.cut()
        try await mirror.dispatch(.set(1)).get()
        #expect(try await got(served.client) == 5 && mirror.value == 5)
        served.client.close()
    }
}
