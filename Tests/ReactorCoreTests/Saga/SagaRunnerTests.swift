import Testing

@testable import ReactorCore

@Suite("SagaRunner")
struct SagaRunnerTests {
    @Test("the desk of a node exists while a saga uses it")
    func desk() throws {
        let tree = Tree(Tally(), epoch: 1, environment: ManualWorld().environment)
        let node = try #require(tree.root as? Node<Tally>)
        let desk = tree.sagas.retainDesk(of: node)
        #expect(tree.sagas.retainDesk(of: node) === desk)
        #expect(!tree.turn.isShort(for: node))
        tree.sagas.releaseDesk(of: node.number, Tally.self)
        #expect(node.rules?.sagas === desk)
        tree.sagas.releaseDesk(of: node.number, Tally.self)
        #expect(node.rules == nil && tree.turn.isShort(for: node))
    }

    @Test("without capacity, a saga fails, and leaves no desk")
    func full() throws {
        let tree = Tree(Tally(), epoch: 1, environment: ManualWorld().environment)
        let node = try #require(tree.root as? Node<Tally>)
        tree.effectsMax = 0
        let handle = tree.runSaga(on: node) { _ in }
        #expect(!handle.isRunning && node.rules == nil)
        #expect(tree.turn.complaints.count == 1 && tree.effects.running.isEmpty)
    }
}
