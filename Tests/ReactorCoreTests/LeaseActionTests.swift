import ReactorCore
import Testing

/// Pages that exist while a client leases them.
@Reactor
struct Album {
    @Children(.leased) var pages = { (_: WireKey) in Fetcher() }

    enum Action: Equatable, Sendable { case tearOut(String) }
    enum Mutation: Equatable, Sendable { case torn }
    struct State: Equatable, Sendable { var torn = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .tearOut(let key): Mutations(.torn).removing($pages, WireKey(key))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.torn += 1 }
}

@Suite("LeaseAction")
struct LeaseActionTests {
    private func keys(_ tree: Tree) throws -> [String] {
        try #require(tree.node(at: SlicePath("/pages"))).children.keys.map(\.text).sorted()
    }

    private func lease(
        _ key: WireKey, from connection: UInt64, lives: Bool = true, _ tree: Tree
    ) throws -> String {
        try tree.send(
            LeaseAction.lease(key: key, definesLifecycle: lives), to: "/pages", from: connection)
    }

    @Test("F74: a leased child is created with the first lease, and removed with the last")
    func lives() throws {
        let tree = Tree(Album(), epoch: 1)
        #expect(try lease("a", from: 1, tree) == "applied 1")
        #expect(try lease("a", from: 2, tree) == "applied 2")
        #expect(try lease("b", from: 2, tree) == "applied 3")
        try tree.send(Fetcher.Action.fetch([]), to: "/pages/a")
        #expect(try tree.send(LeaseAction.release(key: "a"), to: "/pages", from: 1) == "applied 5")
        #expect(try keys(tree) == ["a", "b"])
        #expect(try tree.state(of: Fetcher.self, "/pages/a").pages == ["-"])
        tree.endConnection(2)
        #expect(try keys(tree) == [])
        #expect(try lease("a", from: 1, tree).hasPrefix("applied"))
        #expect(try tree.state(of: Fetcher.self, "/pages/a").pages == [])
    }

    @Test("F50, F74: the removal of a leased child cancels its effects")
    func effects() async throws {
        let world = ManualWorld()
        let tree = Tree(Album(), epoch: 1, environment: world.environment)
        _ = try lease("a", from: 1, tree)
        try tree.send(Fetcher.Action.fetch(["late"]), to: "/pages/a")
        tree.start(tree.turn.effects)
        tree.endConnection(1)
        #expect(world.cancelled == [1])
        await world.runEffects()
        world.deliver(to: tree)
        #expect(try keys(tree) == [])
    }

    @Test("F74: without definesLifecycle, the end of a lease removes nothing")
    func keeps() async throws {
        let world = ManualWorld()
        let tree = Tree(Album(), epoch: 1, environment: world.environment)
        _ = try lease("a", from: 1, lives: false, tree)
        try tree.send(Fetcher.Action.fetch(["late"]), to: "/pages/a")
        tree.start(tree.turn.effects)
        tree.endConnection(1)
        #expect(try keys(tree) == ["a"] && world.cancelled == [])
        _ = try lease("a", from: 2, tree)
        try tree.send(LeaseAction.release(key: "a"), to: "/pages", from: 2)
        #expect(try keys(tree) == [] && world.cancelled == [1])
    }

    @Test(
        "F74: a release without a lease has no effect, an empty key is refused, leases are bounded")
    func refused() throws {
        let tree = Tree(Album(), epoch: 1)
        _ = try lease("a", from: 1, tree)
        let release = LeaseAction.release(key: "a")
        #expect(try tree.send(release, to: "/pages", from: 2) == "rejected not_leased")
        #expect(try tree.send(release, to: "/pages", from: 1) == "applied 2")
        #expect(try tree.send(release, to: "/pages", from: 1) == "rejected not_leased")
        #expect(try lease("", from: 1, tree) == "rejected PATH")
        #expect(try tree.send(WireValue.text("x"), to: "/pages") == "not an action")
        for number in 0..<CoreLimits.leasesPerConnectionMax {
            _ = try lease(WireKey("\(number)"), from: 1, tree)
        }
        #expect(try lease("more", from: 1, tree) == "rejected QUOTA")
        #expect(try lease("more", from: 2, tree).hasPrefix("applied"))
    }

    @Test("F74: a refused batch releases its leases")
    func batch() throws {
        let tree = Tree(Album(), epoch: 1)
        let lease = LeaseAction.lease(key: "a")
        #expect(
            try tree.sendTogether([("/pages", lease), ("/pages", LeaseAction.release(key: "z"))])
                == "rejected not_leased")
        #expect(try keys(tree) == [])
        let release = LeaseAction.release(key: "a")
        #expect(try tree.send(release, to: "/pages") == "rejected not_leased")
        #expect(try tree.sendTogether([("/pages", lease), ("/pages", release)]) == "applied 1")
        #expect(try keys(tree) == [])
    }

    @Test("F74: the parent may remove a leased child, and its holders remove nothing later")
    func tornOut() throws {
        let tree = Tree(Album(), epoch: 1)
        _ = try lease("a", from: 1, tree)
        try tree.send(Album.Action.tearOut("a"))
        #expect(try keys(tree) == [])
        tree.endConnection(1)
        #expect(try keys(tree) == [])
    }

    @Test("a collection without leases refuses them")
    func decided() throws {
        let tree = Tree(Shop(), epoch: 1)
        let lease = LeaseAction.lease(key: "a")
        #expect(try tree.send(lease, to: "/rooms") == "rejected NOT_FOUND")
    }

    @Test("F74: children kept without a lease are bounded, and removing one makes room for another")
    func keptMax() throws {
        let tree = Tree(Album(), epoch: 1)
        let perConnection = CoreLimits.leasesPerConnectionMax
        for number in 0..<CoreLimits.keptChildrenMax {
            let connection = UInt64(number / perConnection + 1)
            _ = try lease(WireKey("\(number)"), from: connection, lives: false, tree)
        }
        #expect(try lease("more", from: 99, lives: false, tree) == "rejected QUOTA")
        #expect(try lease("more", from: 99, tree).hasPrefix("applied"))
        #expect(try lease("0", from: 99, lives: false, tree).hasPrefix("applied"))
        // The limit applies to children that are not leased any more.
        tree.endConnection(1)
        #expect(try keys(tree).count == CoreLimits.keptChildrenMax + 1)
        #expect(try lease("other", from: 98, lives: false, tree) == "rejected QUOTA")
        try tree.send(Album.Action.tearOut("1"))
        #expect(try lease("other", from: 98, lives: false, tree).hasPrefix("applied"))
        #expect(try lease("another", from: 98, lives: false, tree) == "rejected QUOTA")
    }

    @Test("F74: a connection at its limit of leases may lease one of its children again")
    func again() throws {
        let tree = Tree(Album(), epoch: 1)
        for number in 0..<CoreLimits.leasesPerConnectionMax {
            _ = try lease(WireKey("\(number)"), from: 1, lives: false, tree)
        }
        #expect(try lease("more", from: 1, tree).contains("QUOTA"))
        #expect(try lease("0", from: 1, tree).hasPrefix("applied"))
        tree.endConnection(1)
        #expect(try !keys(tree).contains("0"))
    }
}
