import Testing

@testable import ReactorCore

@Suite("SagaRunner")
struct SagaRunnerTests {
    @Test("the desk of a node exists while a saga uses it")
    func desk() throws {
        let tree = Tree(Tally(), epoch: 1, environment: ManualWorld().environment)
        let node = try #require(tree.root as? Node<Tally>)
        let desk = SagaRunner.of(tree).retainDesk(of: node)
        #expect(SagaRunner.of(tree).retainDesk(of: node) === desk)
        #expect(!tree.turn.isShort(for: node))
        SagaRunner.of(tree).releaseDesk(of: node.number, Tally.self)
        #expect(SagaRunner.desk(at: node) === desk)
        SagaRunner.of(tree).releaseDesk(of: node.number, Tally.self)
        #expect(node.rules == nil && tree.turn.isShort(for: node))
    }

    @Test("without capacity, a saga fails, and leaves no desk")
    func full() throws {
        let tree = Tree(Tally(), epoch: 1, environment: ManualWorld().environment)
        let node = try #require(tree.root as? Node<Tally>)
        tree.effectsMax = 0
        let handle = SagaRunner.of(tree).run(on: node) { _ in }
        #expect(!handle.isRunning && node.rules == nil)
        #expect(tree.turn.complaints.count == 1 && tree.effects.running.isEmpty)
    }

    @Test("a desk has a user and a tap as long as it exists")
    func invariants() throws {
        let tree = Tree(Tally(), epoch: 1, environment: ManualWorld().environment)
        let node = try #require(tree.root as? Node<Tally>)
        let runner = SagaRunner.of(tree)
        #expect(runner === SagaRunner.of(tree) && runner.invariants(at: node))
        let desk = runner.retainDesk(of: node)
        #expect(runner.invariants(at: node) && desk.invariants() && desk.isUsed)
        desk.disconnect()
        #expect(!runner.invariants(at: node))
        desk.connect(node.addTap(desk.tap))
        runner.releaseDesk(of: node.number, Tally.self)
        #expect(runner.invariants(at: node) && !desk.isUsed && !desk.isConnected)
    }
}
