import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Seats that connections own, and albums that they lease.
@Reactor
private struct Theatre {
    @Children(.leased) var albums = { (_: WireKey) in Tally() }

    enum Action {
        case sit(seat: String)
        /// Takes a seat for good.
        case claim(seat: String)
        /// Frees a seat by the policy of the reactor.
        case clear(seat: String)
    }
    enum Mutation {
        case seated(seat: String, connection: UInt64, uid: UInt32)
        case cleared(seat: String)
    }
    struct State {
        var connections: [String: UInt64] = [:]
        var users: [String: UInt32] = [:]
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .sit(let seat):
            context.own(WireKey(seat))
            return [
                .seated(
                    seat: seat, connection: context.caller.connection, uid: context.caller.uid)
            ]
        case .claim(let seat):
            return [.seated(seat: seat, connection: 0, uid: context.caller.uid)]
        case .clear(let seat):
            guard let owner = state.connections[seat], let uid = state.users[seat] else {
                throw Rejection("free", "the seat is free")
            }
            try context.checkRelease(from: owner, of: uid)
            context.disown(WireKey(seat), connection: owner)
            return [.cleared(seat: seat)]
        }
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        Mutations(sync: owned.keys.map { .cleared(seat: $0.text) })
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .seated(let seat, let connection, let uid):
            state.connections[seat] = connection
            state.users[seat] = uid
        case .cleared(let seat):
            state.connections[seat] = nil
            state.users[seat] = nil
        }
    }
}

/// Drives ``ForcedReleases``: which client may release what another connection owns.
struct ForcedReleasesTests {
    private let harness = ServerHarness(
        Tree(ReactorGroup([("hall", Theatre())]), epoch: 7, environment: .inert))

    /// A client of a user whose rights at `/hall` are `rights`; nil for a user without limits.
    private func client(_ uid: UInt32) -> TestClient {
        let client = harness.client(uid: uid)
        client.open("/hall", as: 0)
        client.open("/hall/albums", as: 1)
        harness.settle()
        _ = client.frames()
        return client
    }

    private func apply(_ rights: [(uid: UInt32, rights: AccessRights)]) throws {
        let path = try SlicePath("/hall")
        harness.server.apply(
            AccessRules(rights.map { .init(path, to: .uid($0.uid), may: $0.rights) }),
            ownerUID: 1_000)
    }

    /// The outcome of an action: `applied`, or the code of a rejection.
    private func outcome(_ client: TestClient, _ act: (TestClient) -> Void) throws -> String {
        _ = client.frames()
        act(client)
        harness.settle()
        let frame = try #require(
            client.frames().first { $0.kind == .applied || $0.kind == .outcome })
        guard frame.kind == .outcome else { return "applied" }
        switch try frame.decode(Outcome.self) {
        case .applied: return "applied"
        case .rejected(let code, _): return code
        case .accepted, .failed: return "?"
        }
    }

    private func sit(_ client: TestClient, _ seats: String...) throws {
        for seat in seats {
            #expect(
                try outcome(client) { $0.dispatch(Theatre.Action.sit(seat: seat)) } == "applied")
        }
    }

    private func release(
        _ client: TestClient, of owner: TestClient, _ key: WireKey? = nil, at id: UInt32 = 0
    ) throws -> String {
        let release = OwnershipRelease(connection: owner.id.rawValue, key: key)
        return try outcome(client) { client in
            client.dispatchNothing(to: id, options: DispatchOptions(release: release))
        }
    }

    private var seats: [String] {
        get throws { try Self.seats(harness.server.tree) }
    }

    private static func seats(_ tree: Tree) throws -> [String] {
        let node = try #require(tree.node(at: SlicePath("/hall")))
        var writer = WireWriter()
        _ = node.encodeValue(at: ["connections"], into: &writer)
        guard case .map(let map) = try WireValue(wireBytes: writer.bytes) else { return [] }
        return map.map(\.key.text).sorted()
    }

    @Test(
        "X120: without `own`, what another user owns stays; with it, or as the same user, it goes")
    func own() throws {
        try apply([(2_000, .use), (2_001, .use), (2_002, AccessRights([.own]))])
        let owner = client(2_000)
        let (other, warden, sibling) = (client(2_001), client(2_002), client(2_000))
        try sit(owner, "a", "b", "c", "d")
        #expect(try release(other, of: owner) == "FORBIDDEN")
        #expect(try outcome(other) { $0.dispatch(Theatre.Action.clear(seat: "a")) } == "FORBIDDEN")
        #expect(try seats == ["a", "b", "c", "d"])
        #expect(try release(warden, of: owner, "a") == "applied")
        #expect(try outcome(warden) { $0.dispatch(Theatre.Action.clear(seat: "b")) } == "FORBIDDEN")
        #expect(try release(sibling, of: owner, "b") == "applied")
        #expect(
            try outcome(sibling) { $0.dispatch(Theatre.Action.clear(seat: "c")) } == "applied")
        #expect(try seats == ["d"])
        #expect(try release(client(0), of: owner) == "applied")
        #expect(try seats.isEmpty)
        #expect(owner.frames(.closing).isEmpty)
        #expect(harness.server.statistics.denials == ["own": 2, "actions": 1])
    }

    @Test("a release ends all keys of a connection at the node, or the named one, once")
    func keys() throws {
        let (owner, other) = (client(1_000), client(1_000))
        try sit(owner, "a", "b", "c")
        try sit(other, "z")
        #expect(try release(other, of: owner, "b") == "applied")
        #expect(try release(other, of: owner, "b") == "NOT_FOUND")
        #expect(try seats == ["a", "c", "z"])
        #expect(try release(other, of: owner) == "applied")
        #expect(try release(other, of: owner) == "NOT_FOUND")
        #expect(try seats == ["z"])
        // The end of the connection finds nothing left.
        try sit(other, "a")
        owner.disconnect()
        harness.settle()
        #expect(try seats == ["a", "z"])
    }

    @Test("X120: the lease of another user's connection is released with `own` alone")
    func leases() throws {
        try apply([(2_000, .use), (2_001, .use), (2_002, AccessRights([.own, .read]))])
        let (owner, other, warden) = (client(2_000), client(2_001), client(2_002))
        let lease = LeaseAction.lease(key: "x")
        #expect(try outcome(owner) { $0.dispatch(lease, to: 1) } == "applied")
        #expect(try release(other, of: owner, "x", at: 1) == "FORBIDDEN")
        let albums = try #require(harness.server.tree.node(at: SlicePath("/hall/albums")))
        #expect(albums.children.count == 1)
        #expect(try release(warden, of: owner, "x", at: 1) == "applied")
        #expect(albums.children.isEmpty)
    }

    @Test("X120: users that the kernel reports as 65534 are not the same user")
    func unknown() throws {
        harness.server.apply(
            AccessRules([.init(try SlicePath("/hall"), to: .anyone, may: .use)]), ownerUID: 1_000)
        let (owner, other) = (client(65_534), client(65_534))
        try sit(owner, "a")
        #expect(try release(other, of: owner) == "FORBIDDEN")
        #expect(try release(owner, of: owner) == "applied")
        #expect(try seats.isEmpty)
    }

    @Test("a release in a batch, with an action or with another option is refused")
    func misplaced() throws {
        let (owner, other) = (client(1_000), client(1_000))
        try sit(owner, "a")
        let release = OwnershipRelease(connection: owner.id.rawValue)
        #expect(
            try outcome(other) {
                $0.dispatch(
                    Theatre.Action.sit(seat: "b"), options: DispatchOptions(release: release))
            } == "DECODE")
        #expect(
            try outcome(other) { client in
                let body = DispatchOptions(release: release).wireBytes() + [0x80]
                client.send(.batch, flags: .options, number: client.nextOrdinal(), body)
            } == "DECODE")
        #expect(try seats == ["a"])
    }

    @Test("X120: the history has the release: the end of the connection finds only what was left")
    func history() throws {
        let root = ReactorGroup([("hall", Theatre())])
        let past = try Past.run(root) { owner in
            owner.open("/hall", as: 0)
            for seat in ["a", "b"] { owner.dispatch(Theatre.Action.sit(seat: seat)) }
            let release = OwnershipRelease(connection: owner.id.rawValue, key: "a")
            owner.dispatchNothing(to: 0, options: DispatchOptions(release: release))
            // Without an owner from here on.
            owner.dispatch(Theatre.Action.claim(seat: "a"))
        }
        let tree = try Past.recovery(root, past).tree
        #expect(try Self.seats(tree) == ["a", "b"])
        tree.endFormerConnections()
        #expect(try Self.seats(tree) == ["a"])
    }
}
