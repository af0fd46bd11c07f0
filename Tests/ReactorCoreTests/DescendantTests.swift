import ReactorCore
import Testing

/// A reactor that reports its place in the tree.
@Reactor
private struct Leaf {
    enum Action {
        case look
        case set(Int)
    }
    enum Mutation {
        case looked(number: Int?, name: String?, branch: String?, path: String)
        case was(Int)
    }
    struct State: Equatable {
        var seen: String = ""
        var value = 0
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        switch action {
        case .look:
            [
                .looked(
                    number: context.key(as: Int.self), name: context.key(in: \Branch.$leaves),
                    branch: context.key(in: \Wood.$branches), path: context.path.description)
            ]
        case .set(let value): [.was(value)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .looked(let number, let name, let branch, let path):
            state.seen =
                "\(number.map { "\($0)" } ?? "-") \(name ?? "-") \(branch ?? "-") \(path)"
        case .was(let value): state.value = value
        }
    }
}

@Reactor
private struct Branch {
    @Child var bud = Leaf()
    @Children var leaves = { (_: String) in Leaf() }

    enum Action { case grow(String) }
    struct State: Equatable {}

    func mutate(action: Action) -> Mutations<Action> {
        switch action {
        case .grow(let leaf): Mutations.none.creating($leaves, leaf)
        }
    }
}

@Reactor
private struct Wood {
    @Child var root = Leaf()
    @Child var trunk = Branch()
    @Children var branches = { (_: String) in Branch() }

    enum Action {
        case grow(String)
        case read(branch: String, leaf: String)
    }
    enum Mutation { case read([String]) }
    struct State: Equatable { var read: [String] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        switch action {
        case .grow(let branch): return Mutations.none.creating($branches, branch)
        case .read(let branch, let leaf):
            let values = [
                context.state(of: $branches[branch].$leaves[leaf])?.value,
                context.state(of: $branches[branch].$bud)?.value,
                context.state(of: $trunk.$bud)?.value,
            ]
            let keys = context.keys(of: $branches[branch].$leaves)
            return [
                .read(
                    values.map { $0.map { "\($0)" } ?? "-" } + [
                        keys?.joined(separator: "+") ?? "-"
                    ])
            ]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .read(let read): state.read = read
        }
    }
}

@Suite("Descendant")
struct DescendantTests {
    private let tree = Tree(Wood(), epoch: 1)

    private func grow() throws {
        try tree.send(Wood.Action.grow("oak"))
        for leaf in ["b", "a", "12"] {
            try tree.send(Branch.Action.grow(leaf), to: "/branches/oak")
        }
    }

    private func seen(at path: String) throws -> String {
        try tree.send(Leaf.Action.look, to: path)
        return try tree.state(of: Leaf.self, path).seen
    }

    private func read(_ branch: String, _ leaf: String) throws -> [String] {
        try tree.send(Wood.Action.read(branch: branch, leaf: leaf))
        return try tree.state(of: Wood.self).read
    }

    @Test("a decision reads any descendant, and nil where a key on the way has no child")
    func states() throws {
        try grow()
        try tree.send(Leaf.Action.set(3), to: "/branches/oak/leaves/a")
        try tree.send(Leaf.Action.set(4), to: "/branches/oak/bud")
        try tree.send(Leaf.Action.set(5), to: "/trunk/bud")
        #expect(try read("oak", "a") == ["3", "4", "5", "12+a+b"])
        #expect(try read("oak", "z") == ["-", "4", "5", "12+a+b"])
        #expect(try read("elm", "a") == ["-", "-", "5", "-"])
    }

    @Test("a reactor has its key, the keys above it, and its path")
    func keys() throws {
        try grow()
        #expect(try seen(at: "/branches/oak/leaves/a") == "- a oak /branches/oak/leaves/a")
        #expect(try seen(at: "/branches/oak/leaves/12") == "12 12 oak /branches/oak/leaves/12")
        // A static child has the key of no collection, except those above it.
        #expect(try seen(at: "/branches/oak/bud") == "- - oak /branches/oak/bud")
        #expect(try seen(at: "/trunk/bud") == "- - - /trunk/bud")
        #expect(try seen(at: "/root") == "- - - /root")
    }

    @Test("the root has no key")
    func root() throws {
        let tree = Tree(Leaf(), epoch: 1)
        try tree.send(Leaf.Action.look)
        #expect(try tree.state(of: Leaf.self).seen == "- - - /")
    }

    @Test("a mirror does not preview a decision that reads a key")
    func preview() throws {
        let preview = Preview(Leaf(), at: try SlicePath("/branches/oak/leaves/a"))
        #expect(throws: Rejection.self) { try preview.apply(.look) }
        try preview.apply(.set(1))
        #expect(preview.state == Leaf.State(seen: "", value: 1))
    }
}
