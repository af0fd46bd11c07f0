import Testing

@testable import ReactorCore

@Suite("TaskRunner")
struct TaskRunnerTests {
    /// A runner with one node, and without a tree.
    private struct Bench {
        let world = ManualWorld()
        let nodes = NodeRegistry()
        let turn = Turn(epoch: 1, sequence: 0, recordsDeltas: false)
        let node = Node(Tally(), number: 3, path: .root, parent: nil)
        let effects: EffectRunner
        let runner: TaskRunner

        init() {
            effects = EffectRunner(nodes, turn, world.environment)
            runner = TaskRunner(nodes, effects, turn)
            nodes.register(node, during: nil)
            turn.recordFacts()
        }

        /// Plans an action in the current transaction, and records the plan.
        func plan(_ name: String) {
            runner.request(
                .timer(name: name, span: .seconds(5), period: nil, .once, WireEmbedded(1)),
                of: node)
            settle()
        }

        func settle() {
            for fact in turn.transaction.wishes.tasks { runner.record(fact) }
            turn.transaction.wishes.clear()
        }

        /// Starts the effects that waited for the commit.
        func commit() { for effect in turn.takeEffects() { effect.start() } }
    }

    @Test("a plan waits once it is committed, and its replacement ends the wait")
    func replace() {
        let bench = Bench()
        bench.plan("tea")
        #expect(bench.world.spawned == 0 && bench.runner.count == 1)
        bench.commit()
        #expect(bench.world.spawned == 1)
        bench.plan("tea")
        bench.commit()
        #expect(bench.world.cancelled == [1] && bench.world.spawned == 2)
        #expect(bench.runner.count == 1 && bench.runner.lastID == 2 && bench.runner.invariants())
    }

    @Test("a plan that was dropped before its commit does not wait")
    func dropped() {
        let bench = Bench()
        bench.plan("tea")
        bench.runner.request(.drop(name: "tea"), of: bench.node)
        bench.settle()
        bench.commit()
        #expect(bench.world.spawned == 0 && bench.runner.count == 0)
        #expect(bench.turn.facts.count == 2)
    }

    @Test("a removed node's tasks end")
    func forget() {
        let bench = Bench()
        bench.plan("tea")
        bench.commit()
        bench.runner.forget(bench.node.number)
        #expect(bench.world.cancelled == [1] && bench.runner.facts.isEmpty)
    }

    @Test("without capacity, a durable effect waits for it")
    func postpone() {
        let bench = Bench()
        bench.effects.limit(to: 0)
        bench.runner.request(.effect(name: "charge", WireEmbedded(1)), of: bench.node)
        bench.settle()
        bench.commit()
        #expect(bench.runner.postponedCount == 1 && bench.runner.performingCount == 0)
        bench.runner.startWaiting()
        #expect(bench.runner.postponedCount == 1)
    }

    @Test("a restored task starts when the runner resumes")
    func restore() {
        let bench = Bench()
        let source = Bench()
        source.plan("tea")
        for fact in source.runner.facts { bench.runner.restore(fact) }
        bench.commit()
        #expect(bench.world.spawned == 0)
        bench.runner.resume()
        bench.commit()
        #expect(bench.world.spawned == 1 && bench.turn.facts.isEmpty)
    }
}
