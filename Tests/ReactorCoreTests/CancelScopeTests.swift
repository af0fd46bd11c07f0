import ReactorCore
import Testing

@Suite("CancelScope")
struct CancelScopeTests {
    private let world = ManualWorld()

    private func tree() -> Tree {
        Tree(
            ReactorGroup([("a", Fetcher()), ("b", Fetcher())]), epoch: 1,
            environment: world.environment)
    }

    /// Sends an action with an optional cancel id, and starts the requested effects.
    private func send(
        _ action: Fetcher.Action?, to path: String = "/a", as name: String,
        from connection: UInt64 = 1,
        _ tree: Tree
    ) throws -> String {
        let node = try #require(tree.node(at: try SlicePath(path)))
        let bytes = action?.wireBytes() ?? []
        let result = tree.dispatch(
            to: node, bytes.span, from: 0, by: .connection(connection), ordinal: 1, cancel: name)
        tree.start(tree.turn.effects)
        tree.turn.begin()
        return try result.text
    }

    @Test("F49: an action cancels effects of earlier actions with its name, and no others")
    func sameName() async throws {
        let tree = tree()
        #expect(try send(.fetch(["1"]), as: "typing", tree) == "applied 1")
        #expect(try send(.fetch(["2"]), as: "other", tree) == "applied 2")
        #expect(try send(.fetch(["3"]), to: "/b", as: "typing", tree) == "applied 3")
        #expect(try send(.fetch(["4"]), as: "typing", from: 2, tree) == "applied 4")
        #expect(world.cancelled == [])
        #expect(try send(.fetch(["5"]), as: "typing", tree) == "applied 5")
        #expect(world.cancelled == [1])
        await world.runEffects()
        world.deliver(to: tree)
        #expect(
            try tree.state(of: Fetcher.self, "/a").pages == ["-", "-", "-", "-", "2", "4", "5"])
        #expect(try tree.state(of: Fetcher.self, "/b").pages == ["-", "3"])
    }

    @Test("F49: without an action, a cancel id only cancels")
    func only() async throws {
        let tree = tree()
        #expect(try send(.fetch(["1"]), as: "typing", tree) == "applied 1")
        #expect(try send(nil, as: "other", tree) == "applied 2")
        #expect(world.cancelled == [])
        #expect(try send(nil, as: "typing", tree) == "applied 3")
        #expect(world.cancelled == [1])
        await world.runEffects()
        world.deliver(to: tree)
        #expect(try tree.state(of: Fetcher.self, "/a").pages == ["-"])
    }

    @Test("F49: a rejected action cancels nothing, and a too long name is rejected")
    func rejected() throws {
        let tree = Tree(Tally(), epoch: 1, environment: world.environment)
        let bytes = Tally.Action.refuse.wireBytes()
        let result = tree.dispatch(
            to: tree.root, bytes.span, from: 0, by: .connection(1), ordinal: 1, cancel: "typing")
        #expect(try result.text == "rejected refused" && tree.turn.effects.isEmpty)
        let long = String(repeating: "x", count: CoreLimits.cancelNameBytesMax + 1)
        let nothing: [UInt8] = []
        let refused = tree.dispatch(
            to: tree.root, nothing.span, from: 0, by: .connection(1), ordinal: 2, cancel: long)
        #expect(try refused.text == "rejected TOO_LARGE" && tree.turn.effects.isEmpty)
    }

    @Test("F49: in a batch the name applies to all actions, and to none if it is refused")
    func batch() throws {
        let tree = tree()
        _ = try send(.fetch(["1"]), to: "/a", as: "typing", tree)
        _ = try send(.fetch(["2"]), to: "/b", as: "typing", tree)
        var bytes = Fetcher.Action.fetch(["3"]).wireBytes()
        let first = 0..<bytes.count
        bytes += [0xff]
        let nodes = try ["/a", "/b"].map { try #require(tree.node(at: try SlicePath($0))) }
        let bad = tree.transact(
            [
                Tree.BatchItem(node: nodes[0], range: first),
                Tree.BatchItem(node: nodes[1], range: first.upperBound..<bytes.count),
            ], bytes.span, by: .connection(1), ordinal: 3, cancel: "typing")
        #expect(try bad.text == "rejected DECODE" && tree.turn.effects.isEmpty)
        let good = tree.transact(
            nodes.map { Tree.BatchItem(node: $0, range: first) }, bytes.span,
            by: .connection(1), ordinal: 4, cancel: "typing")
        #expect(try good.text == "applied 3")
        tree.start(tree.turn.effects)
        #expect(world.cancelled.sorted() == [1, 2] && world.spawned == 4)
    }
}
