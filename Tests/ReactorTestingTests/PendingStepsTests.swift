import ReactorCore
import Testing

@testable import ReactorTesting

struct PendingStepsTests {
    private let root: Node<Counter>
    private let pending: PendingSteps<Counter>

    init() throws {
        let tree = Tree(Counter(), epoch: 1)
        root = try #require(tree.root as? Node<Counter>)
        pending = PendingSteps(of: root)
    }

    /// A transaction that leaves the root in the encoded state `after`.
    private func step(_ sequence: UInt64, after: [UInt8]) -> TestStep<Counter> {
        TestStep(
            sequence: sequence,
            changes: [NodeChange(sequence: sequence, node: root, after: after)])
    }

    @Test("a test takes the transactions up to a sequence, and the others stay")
    func takes() {
        pending.add([step(1, after: [1]), step(2, after: [2])])
        pending.add([step(5, after: [5])])
        #expect(pending.takeSteps(upTo: 4).map(\.sequence) == [1, 2])
        #expect(pending.takeSteps(upTo: 4).isEmpty && pending.steps.map(\.sequence) == [5])
    }

    @Test("opening a transaction shows its state; closing returns what is not accounted for")
    func opens() throws {
        pending.add([step(1, after: [1]), step(2, after: [2])])
        #expect(pending.openNext()?.sequence == 1 && pending.shown == [1])
        #expect(pending.takeChange(of: root)?.after == [1])
        #expect(pending.takeChange(of: root) == nil)
        #expect(pending.close()?.isEmpty == true && pending.current == nil)
        #expect(pending.openNext()?.sequence == 2 && pending.openNext() == nil)
        #expect(pending.close()?.changes.count == 1 && pending.close() == nil)
    }

    @Test("skipped transactions are shown and not asked for again")
    func skips() {
        pending.add([step(1, after: [1]), step(2, after: [2])])
        pending.skipSteps()
        #expect(pending.steps.isEmpty && pending.shown == [2] && pending.openNext() == nil)
    }

    @Test("an error is taken once, by a part of its text or with all others")
    func problems() {
        pending.add(problems: ["no child \"a\"", "effect late", "no child \"b\""])
        #expect(pending.takeProblem(containing: "no child"))
        #expect(!pending.takeProblem(containing: "another"))
        #expect(pending.takeProblems() == ["effect late", "no child \"b\""])
        #expect(pending.takeProblems().isEmpty)
    }
}
