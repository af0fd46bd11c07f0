import Testing

@testable import ReactorCore

@Suite("A live reactor")
struct LiveReactorTests {
    /// An open tree, and its world.
    private func opened(_ root: some Reactor) -> (tree: Tree, world: ManualWorld) {
        let world = ManualWorld()
        let tree = Tree(root, epoch: 1, environment: world.environment)
        tree.open()
        return (tree, world)
    }

    @Test("F28: middleware and taps of a tree last as long as their tokens")
    func tokens() throws {
        let (tree, world) = opened(Adder())
        let adder = try tree.reactor(Adder.self)
        var seen: [String] = []
        var tokens = [
            adder.addMiddleware(Middleware { _, action, _ in seen.append("\(action)") }),
            adder.addTap(NodeTap(mutation: { mutation, _ in seen.append("\(mutation)") })),
        ]
        adder.send(.add(1))
        #expect(adder.state.sum == 0)
        world.deliver(to: tree)
        tree.start(tree.turn.takeEffects())
        #expect(adder.state.sum == 1)
        #expect(seen == ["add(1)", "added(1)"])
        tokens.removeAll()
        adder.send(.add(2))
        world.deliver(to: tree)
        tree.start(tree.turn.takeEffects())
        #expect(adder.state.sum == 3)
        #expect(seen.count == 2)
        #expect(!adder.node.takesLongWay)
    }

    @Test("F28: a tap whose token another tap releases is not called for that action any more")
    func releasedByAnother() throws {
        let (tree, world) = opened(Adder())
        let adder = try tree.reactor(Adder.self)
        var seen: [String] = []
        var later: StoreToken?
        let first = adder.addTap(
            NodeTap(mutation: { _, _ in
                seen.append("first")
                later = nil
            }))
        later = adder.addTap(
            NodeTap(
                action: { _, _ in seen.append("action") },
                mutation: { _, _ in seen.append("mutation") }))
        adder.send(.add(1))
        world.deliver(to: tree)
        tree.start(tree.turn.takeEffects())
        #expect(seen == ["first"] && later == nil)
        withExtendedLifetime(first) {}
    }

    @Test("F28: kept middleware lasts without its token")
    func kept() throws {
        let (tree, world) = opened(Adder())
        let adder = try tree.reactor(Adder.self)
        var count = 0
        adder.addMiddleware(Middleware { _, _, _ in count += 1 }).keep()
        adder.send(.add(1))
        world.deliver(to: tree)
        #expect(count == 1)
    }

    @Test("F17: an injected mutation is a transaction of the daemon itself, whatever came before")
    func inject() throws {
        let (tree, world) = opened(Adder())
        let adder = try tree.reactor(Adder.self)
        var origins: [Origin] = []
        adder.addTap(NodeTap(mutation: { origins.append($1) })).keep()
        let caller = Caller(connection: 4, client: 5, uid: 0, gid: 0, pid: 0)
        _ = tree.dispatch(
            to: tree.root, Adder.Action.add(1).wireBytes().span, by: caller, ordinal: 6)
        adder.inject(.added(5))
        adder.send(.add(7))
        world.deliver(to: tree)
        tree.start(tree.turn.takeEffects())
        #expect(adder.state.seen == [1, 5, 7])
        #expect(tree.turn.sequence == 3)
        #expect(origins == [Origin(client: 5, ordinal: 6), .daemon, .daemon])
    }

    @Test("F25: a connected source delivers until its token is released")
    func connect() async throws {
        let (tree, world) = opened(Adder())
        let adder = try tree.reactor(Adder.self)
        var token: StoreToken? = adder.connect(Numbers(values: [.add(1), .refuse, .add(2)]))
        await world.runEffects()
        world.deliver(to: tree)
        #expect(adder.state.seen == [1, 2])
        #expect(world.cancelled == [] && token != nil)
        token = nil
        #expect(world.cancelled == [1])
    }

    @Test(
        "a path without a reactor of the type is refused, with the reactor that exists there")
    func missing() {
        let (tree, _) = opened(Adder())
        #expect(throws: Rejection(.notFound, "/nowhere: no such node")) {
            _ = try tree.reactor(Adder.self, at: "/nowhere")
        }
        #expect(
            throws: Rejection(.notFound, "/: expected a reactor of type Waiter, got Adder")
        ) { _ = try tree.reactor(Waiter.self) }
    }

    @Test("a path of properties finds a nested reactor")
    func properties() throws {
        let (tree, _) = opened(ReactorGroup([("adder", Adder())]))
        let adder = try tree.reactor(ReactorPath(at: SlicePath("/adder")) { Adder() })
        #expect(adder.node === tree.root.children["adder"])
    }
}
