import Testing

@testable import ReactorCore

@Suite("NodeRegistry")
struct NodeRegistryTests {
    private func node(_ number: UInt32) -> AnyNode {
        Node(Tally(), number: number, path: .root, parent: nil)
    }

    @Test("the last node takes the index of a removed one")
    func remove() {
        let registry = NodeRegistry()
        let nodes = (1...4).map { node($0) }
        for node in nodes { registry.register(node, during: nil) }
        registry.remove(nodes[1], during: nil)
        #expect(registry.order.map(\.number) == [1, 4, 3] && registry.count == 3)
        #expect(registry[2] == nil && registry[4] === nodes[3])
        #expect(registry.order.indices.allSatisfy(registry.invariants))
        registry.remove(nodes[2], during: nil)
        #expect(registry.order.map(\.number) == [1, 4])
    }

    @Test("a new number belongs to no node")
    func numbers() {
        let registry = NodeRegistry()
        registry.register(node(1), during: nil)
        registry.register(node(2), during: nil)
        #expect(registry.newNumber() == 3)
        #expect(registry.newNumber() == 4)
    }

    @Test("a rebuild keeps known numbers, and gives newcomers those after the last")
    func rebuild() {
        let registry = NodeRegistry()
        let (root, old, new) = (node(0), node(1), node(2))
        for node in [root, old, new] { registry.register(node, during: nil) }
        // The history has `old` under the number that `new` has today.
        registry.renumber(old, as: 2)
        #expect(registry[2] === old && registry[1] == nil)
        registry.rebuild(from: [root, old], [new], after: 5)
        #expect(registry.order.map(\.number) == [0, 2, 6])
        #expect(registry[6] === new && registry.count == 3)
    }
}
