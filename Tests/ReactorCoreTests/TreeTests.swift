import ReactorCore
import Testing

@Suite("Tree")
struct TreeTests {
    @Test("F64: a path leads to the deepest node and leaves the field inside its state")
    func resolve() throws {
        let tree = Tree(Shop(), epoch: 1)
        let (node, field) = tree.resolve(try SlicePath("/visits/history/3"))
        #expect(node.path.description == "/visits")
        #expect(Array(field) == ["history", "3"])
        #expect(try tree.node(at: SlicePath("/visits/history")) == nil)
        #expect(try tree.node(at: SlicePath("/")) === tree.root)
    }

    @Test("nodes are visited with parents first, siblings in ascending order")
    func visit() throws {
        let tree = Tree(Shop(), epoch: 1)
        try tree.send(Shop.Action.open("b"))
        try tree.send(Shop.Action.open("a"))
        var paths: [String] = []
        tree.forEachNode { paths.append($0.path.description) }
        #expect(
            paths == [
                "/", "/rooms", "/rooms/a", "/rooms/a/guests", "/rooms/b", "/rooms/b/guests",
                "/visits",
            ])
        #expect(tree.mountedCount == paths.count)
    }

    @Test("each node has a number of its own, and is found by it")
    func numbers() throws {
        let tree = Tree(Shop(), epoch: 1)
        try tree.send(Shop.Action.open("a"))
        var numbers: Set<UInt32> = []
        tree.forEachNode { node in
            #expect(numbers.insert(node.number).inserted)
            #expect(tree.node(node.number) === node)
        }
        #expect(tree.node(4_000_000) == nil)
    }

    @Test("a new node is announced when it can be found")
    func onMount() throws {
        let tree = Tree(Shop(), epoch: 1)
        var mounted: [String] = []
        tree.onMount = { [unowned tree] node in
            #expect(tree.node(at: node.path) === node)
            mounted.append(node.path.description)
        }
        try tree.send(Shop.Action.open("a"))
        #expect(Set(mounted) == ["/rooms/a", "/rooms/a/guests"])
    }

    @Test("a released tree releases its nodes")
    func deinitialises() throws {
        weak var root: AnyNode?
        weak var leaf: AnyNode?
        do {
            let tree = Tree(Shop(), epoch: 1)
            try tree.send(Shop.Action.open("a"))
            root = tree.root
            leaf = try tree.node(at: SlicePath("/rooms/a/guests"))
            #expect(root != nil && leaf != nil)
        }
        #expect(root == nil && leaf == nil)
    }

    @Test("F5: a second tree that reduces the first one's deltas has its state")
    func replay() throws {
        let tree = Tree(Tally(), epoch: 1)
        tree.root.isReplicated = true
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var replica = Tally.State()
        for _ in 0..<500 {
            let amount = Int.random(in: -99...99, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0...1: try tree.send(Tally.Action.add(amount))
            case 2: try tree.send(Tally.Action.spread([amount, 1, amount]))
            case 3: try tree.send(Tally.Action.refuse)
            default: try tree.send(Tally.Action.swell(abs(amount)))
            }
            for change in tree.turn.changes {
                try tree.turn.withDeltas { bytes throws(WireError) in
                    var cursor = WireCursor(offset: change.start + FrameHeader.byteCount)
                    _ = try Origin.decode(bytes, &cursor)
                    while cursor.offset < change.end {
                        let mutation = try Tally.Mutation.decode(bytes, &cursor)
                        Tally().reduce(state: &replica, mutation: mutation)
                    }
                }
            }
            tree.turn.begin()
        }
        #expect(try tree.state(of: Tally.self) == replica, "seed \(seed)")
    }
}
