import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// Counters that live while a client leases them.
@Reactor
struct Hostel {
    @Children(.leased) var rooms = { (_: WireKey) in StockReactors.Counter() }

    enum Action { case nothing }
    enum Mutation { case nothing }
    struct State { var name = "hostel" }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> { .none }

    func reduce(state: inout State, mutation: Mutation) {}
}

@Suite("Leases of a client", .timeLimit(.minutes(10)))
struct LeaseTests {
    private typealias Counter = StockReactors.Counter

    private static func roomCount(_ core: LiveServerCore) -> Int {
        guard let path = try? SlicePath("/rooms") else { return -1 }
        return core.server.tree.node(at: path)?.children.count ?? -1
    }

    @Test("F74: a child lives while any process holds a lease of it")
    func lives() async throws {
        let server = try LiveServer(Hostel())
        let first = try await Client.connect(to: server.path)
        let second = try await Client.connect(to: server.path)
        var mine: Lease<Counter>? = try await first.lease(Counter.self, at: "/rooms/7")
        var again: Lease<Counter>? = try await first.lease(Counter.self, at: "/rooms/7")
        var theirs: Lease<Counter>? = try await second.lease(
            ReactorPath(Hostel.self).child(\.$rooms, "7"))
        #expect(await mine?.mirror.dispatch(.increment(by: 3)).revision != nil)
        try await theirs?.mirror.reached(first.watchedRevision)
        #expect(theirs?.mirror.count == 3)
        mine = nil
        theirs = nil
        try await second.drain()
        try await second.ping()
        #expect(await server.on(Self.roomCount) == 1)
        #expect(again?.mirror.count == 3 && mine == nil && theirs == nil)
        again = nil
        await server.until { Self.roomCount($0) == 0 }
        first.close()
        second.close()
    }

    @Test("a lease of a later type fails on a field that the daemon lacks, or has its default")
    func missing() async throws {
        let server = try LiveServer(Hostel())
        let client = try await Client.connect(to: server.path)
        await #expect(throws: ClientError.self) {
            _ = try await client.lease(Later.Counter.self, at: "/rooms/7")
        }
        let lease = try await client.lease(Later.Counter.self, at: "/rooms/7", missing: .defaults)
        guard case .differing(let difference) = lease.mirror.phase else {
            Issue.record("\(lease.mirror.phase)")
            return
        }
        #expect(difference.missing == ["title"] && lease.mirror.title == "none")
        let path = ReactorPath(Hostel.self).child(\.$rooms, "7")
        let same = try await client.lease(path, missing: .defaults)
        #expect(same.mirror.phase == .live)
        client.close()
    }

    @Test("F74: the end of the last holder's connection ends the child")
    func connectionEnd() async throws {
        let server = try LiveServer(Hostel())
        let client = try await Client.connect(to: server.path)
        let lease = try await client.lease(Counter.self, at: "/rooms/7")
        #expect(await server.on(Self.roomCount) == 1)
        client.close()
        await server.until { Self.roomCount($0) == 0 }
        withExtendedLifetime(lease) {}
    }

    @Test("F74: a client that has reconnected leases its children again, and mirrors them")
    func reconnect() async throws {
        let server = try LiveServer(Hostel())
        let client = try await Client.connect(to: server.path, options: .brisk)
        let lease = try await client.lease(Counter.self, at: "/rooms/7")
        #expect(await lease.mirror.dispatch(.increment(by: 3)).revision != nil)
        await server.cut()
        await lease.mirror.until { $0.phase == .live && $0.count == 0 }
        #expect(await lease.mirror.dispatch(.increment(by: 4)).revision != nil)
        #expect(lease.mirror.count == 4)
        #expect(await server.on(Self.roomCount) == 1)
        client.close()
    }

    @Test("F74: without definesLifecycle the child outlives its lease")
    func definesNothing() async throws {
        let server = try LiveServer(Hostel())
        let client = try await Client.connect(to: server.path)
        var lease: Lease<Counter>? = try await client.lease(
            Counter.self, at: "/rooms/7", definesLifecycle: false)
        #expect(await lease?.mirror.dispatch(.increment(by: 3)).revision != nil)
        lease = nil
        try await client.ping()
        try await client.drain()
        #expect(lease == nil)
        #expect(try await client.mirror(Counter.self, at: "/rooms/7").count == 3)
        client.close()
    }

    @Test("F74: a client whose task was cancelled while it waited for a lease holds none")
    func cancelled() async throws {
        let server = try LiveServer(Hostel())
        let client = try await Client.connect(to: server.path)
        await server.hold()
        let task = Task { try await client.lease(Counter.self, at: "/rooms/7") }
        await server.until { Self.roomCount($0) == 1 }
        task.cancel()
        await #expect(throws: ClientError.cancelled) { _ = try await task.value }
        await server.release()
        await server.until { Self.roomCount($0) == 0 }
        client.close()
    }

    @Test("F74: leasing a path that has no leased children is an error with the reason")
    func refused() async throws {
        let server = try LiveServer(Hostel())
        let client = try await Client.connect(to: server.path)
        for path in ["/", "/rooms", "/no/such", "bad"] {
            await #expect(throws: ClientError.self, "\(path)") {
                _ = try await client.lease(Counter.self, at: path)
            }
        }
        client.close()
    }
}

extension Client {
    /// The revision that this client's mirrors show.
    fileprivate var watchedRevision: Revision {
        get async throws {
            try await ask { client, then in then(.success(client.revision)) }
        }
    }
}
