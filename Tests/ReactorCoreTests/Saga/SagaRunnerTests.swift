import Testing

@testable import ReactorCore

@Suite("SagaRunner")
struct SagaRunnerTests {
    @Test("the broker of a node exists while a saga uses it")
    func broker() throws {
        let tree = Tree(Tally(), epoch: 1, environment: ManualWorld().environment)
        let node = try #require(tree.root as? Node<Tally>)
        let broker = SagaRunner.of(tree).retainBroker(of: node)
        #expect(SagaRunner.of(tree).retainBroker(of: node) === broker)
        #expect(!tree.turn.isShort(for: node))
        SagaRunner.of(tree).releaseBroker(of: node.number, Tally.self)
        #expect(SagaRunner.broker(at: node) === broker)
        SagaRunner.of(tree).releaseBroker(of: node.number, Tally.self)
        #expect(node.rules == nil && tree.turn.isShort(for: node))
    }

    @Test("without capacity, a saga fails, and leaves no broker")
    func full() throws {
        let tree = Tree(Tally(), epoch: 1, environment: ManualWorld().environment)
        let node = try #require(tree.root as? Node<Tally>)
        tree.effectsMax = 0
        let handle = SagaRunner.of(tree).run(on: node) { _ in }
        #expect(!handle.isRunning && node.rules == nil)
        #expect(tree.turn.complaints.count == 1 && tree.effects.running.isEmpty)
    }

    @Test("a broker has a user and a tap as long as it exists")
    func invariants() throws {
        let tree = Tree(Tally(), epoch: 1, environment: ManualWorld().environment)
        let node = try #require(tree.root as? Node<Tally>)
        let runner = SagaRunner.of(tree)
        #expect(runner === SagaRunner.of(tree) && runner.invariants(at: node))
        let broker = runner.retainBroker(of: node)
        #expect(runner.invariants(at: node) && broker.invariants())
        #expect(broker.isUsed && broker.isConnected && node.takesLongWay)
        runner.releaseBroker(of: node.number, Tally.self)
        #expect(runner.invariants(at: node) && broker.invariants())
        #expect(!broker.isUsed && !broker.isConnected && SagaRunner.broker(at: node) == nil)
    }
}
