import Testing

@testable import ReactorCore

@Suite("EffectRunner")
struct EffectRunnerTests {
    /// A runner with one node, and without a tree.
    private struct Bench {
        let world = ManualWorld()
        let nodes = NodeRegistry()
        let turn = Turn(epoch: 1, sequence: 0, recordsDeltas: false)
        let node = Node(Tally(), number: 3, path: .root, parent: nil)
        let runner: EffectRunner

        init(countMax: Int = 2) {
            runner = EffectRunner(nodes, turn, world.environment)
            nodes.register(node, during: nil)
            runner.limit(to: countMax)
        }

        /// Lists an effect of the transaction numbered `sequence`, and begins it.
        func begin(of sequence: UInt64 = 1) -> EffectID {
            let id = runner.newID(of: node)
            runner.list(RunningEffect(origin: .daemon, sequence: sequence), as: id)
            runner.start(id) { [runner] in
                if runner.running[id] != nil { runner.set(cancel: {}, of: id) }
            }
            return id
        }
    }

    @Test("effects beyond the limit wait, and start in order when others end")
    func limit() {
        let bench = Bench()
        let ids = (0..<4).map { _ in bench.begin() }
        let runner = bench.runner
        #expect(runner.running.startedCount == 2 && runner.waiting.count == 2)
        runner.end(ids[0])
        #expect(runner.running.startedCount == 1)
        runner.startWaiting()
        #expect(runner.running.startedCount == 2 && runner.running[ids[2]]?.cancel != nil)
        #expect(runner.running[ids[3]]?.cancel == nil && runner.invariants())
    }

    @Test("a cancelled effect takes capacity until its work has ended")
    func orphans() {
        let bench = Bench(countMax: 1)
        let id = bench.begin()
        bench.runner.cancel(id)
        #expect(bench.runner.orphans == [id] && bench.runner.running.isEmpty)
        #expect(!bench.runner.hasRoom(for: 1))
        bench.runner.ended(id, nil, of: Tally.self)
        #expect(bench.runner.orphans.isEmpty && bench.runner.hasRoom(for: 1))
    }

    @Test("a cancelled effect that waits is removed from the queue at once")
    func cancelWaiting() {
        let bench = Bench(countMax: 1)
        _ = bench.begin()
        let waiting = bench.begin()
        bench.runner.cancel(waiting)
        #expect(bench.runner.waiting.isEmpty && bench.runner.orphans.isEmpty)
        #expect(bench.runner.running.count == 1)
    }

    @Test("an action whose effects exceed the limit is refused as BUSY")
    func busy() {
        let bench = Bench()
        _ = bench.begin()
        #expect(throws: Never.self) { try bench.runner.checkRoom(for: 1, of: bench.node) }
        let refusal = #expect(throws: Rejection.self) {
            try bench.runner.checkRoom(for: 2, of: bench.node)
        }
        #expect(refusal?.code == "BUSY")
    }

    @Test("the tree counts as crowded before the limit is reached")
    func crowded() {
        let bench = Bench(countMax: 66)
        _ = bench.begin()
        #expect(!bench.turn.isCrowded)
        _ = bench.begin()
        let last = bench.begin()
        #expect(bench.turn.isCrowded)
        bench.runner.end(last)
        #expect(!bench.turn.isCrowded)
    }

    @Test("the end of a transaction's last effect is reported, or at once if it has none")
    func whenEnded() {
        let bench = Bench()
        let ids = [bench.begin(of: 7), bench.begin(of: 7)]
        var reports = 0
        bench.runner.whenEnded(of: 7) { reports += 1 }
        bench.runner.end(ids[0])
        #expect(reports == 0 && bench.runner.runs(of: 7))
        bench.runner.end(ids[1])
        #expect(reports == 1 && !bench.runner.runs(of: 7))
        bench.runner.whenEnded(of: 7) { reports += 1 }
        #expect(reports == 2)
    }

    @Test("dismissing cancels every effect, and lists them with earlier orphans")
    func dismiss() {
        let bench = Bench(countMax: 3)
        let orphan = bench.begin()
        bench.runner.cancel(orphan)
        _ = bench.begin()
        #expect(bench.runner.listings.count == 1)
        _ = bench.runner.dismiss()
        #expect(bench.runner.running.isEmpty && bench.runner.orphans.count == 2)
    }

    @Test("the end of the tree releases what waits, which would keep the runner alive")
    func abandon() {
        weak var runner: EffectRunner?
        do {
            let bench = Bench(countMax: 1)
            runner = bench.runner
            _ = bench.begin()
            _ = bench.begin()
            bench.runner.whenEnded(of: 1) { [runner = bench.runner] in _ = runner.running }
            #expect(bench.runner.waiting.count == 1)
            bench.runner.abandon()
            #expect(bench.runner.waiting.isEmpty)
        }
        #expect(runner == nil)
    }

    @Test("a successor continues the numbers of effects")
    func succeed() {
        let former = Bench()
        _ = former.begin()
        let bench = Bench()
        bench.runner.succeed(former.runner)
        #expect(bench.begin().number == 2)
    }
}
