import ReactorCore

/// The transactions and errors of a tree that a test has not accounted for.
///
/// *Place*: in a ``TestStore``, which adds the transactions of a turn; each step of the test
/// removes its part. *Owner*: the store's isolation.
///
/// *Invariants*: the steps are in the order of their sequences, and after the current one.
final class PendingSteps<R: Reactor> {
    /// Transactions that the test has not accounted for.
    private(set) var steps: [TestStep<R>] = []
    /// The current transaction, with the changes not yet accounted for.
    private(set) var current: TestStep<R>?
    /// The root's encoded state, as of the last transaction that the test accounted for.
    private(set) var shown: [UInt8]
    /// Errors of the tree without a caller that the test has not accounted for.
    private(set) var problems: [String] = []
    private let root: Node<R>

    /// Begins with the current state of `root`.
    init(of root: Node<R>) {
        self.root = root
        shown = StateLedger.state(of: root)
    }

    /// Adds transactions, in the order of their sequences.
    func add(_ steps: [TestStep<R>]) {
        self.steps += steps
        invariants()
    }

    /// Adds errors without a caller.
    func add(problems: [String]) { self.problems += problems }

    /// Removes and returns the transactions up to this sequence.
    func takeSteps(upTo sequence: UInt64) -> [TestStep<R>] {
        let taken = steps.prefix { $0.sequence <= sequence }
        steps.removeFirst(taken.count)
        return Array(taken)
    }

    /// Removes the transactions, and shows the state after the last.
    func skipSteps() {
        for step in steps { show(step) }
        steps = []
    }

    /// Makes `step` the current transaction.
    func open(_ step: TestStep<R>) {
        current = step
        show(step)
        invariants()
    }

    /// Makes the next transaction the current one, and returns it; nil if there is none.
    func openNext() -> TestStep<R>? {
        guard !steps.isEmpty else { return nil }
        let step = steps.removeFirst()
        open(step)
        return step
    }

    /// Ends the current transaction, and returns what the test has not accounted for.
    func close() -> TestStep<R>? {
        defer { current = nil }
        return current
    }

    /// Removes and returns the change of `node` in the current transaction.
    func takeChange(of node: AnyNode) -> NodeChange? {
        guard let index = current?.changes.firstIndex(where: { $0.node === node }) else {
            return nil
        }
        return current?.changes.remove(at: index)
    }

    /// Sets the root's shown state to the state after `step`.
    func show(_ step: TestStep<R>) {
        if let change = step.changes.first(where: { $0.node === root }) { shown = change.after }
    }

    /// Removes the first error that contains `part`; returns false if there is none.
    func takeProblem(containing part: String) -> Bool {
        guard let index = problems.firstIndex(where: { $0.contains(part) }) else { return false }
        problems.remove(at: index)
        return true
    }

    /// Removes and returns all errors.
    func takeProblems() -> [String] {
        defer { problems = [] }
        return problems
    }

    private func invariants() {
        assert(
            zip(steps, steps.dropFirst()).allSatisfy { $0.sequence <= $1.sequence },
            "the steps are not in their order")
        assert(
            steps.first.map { first in current.map { $0.sequence <= first.sequence } ?? true }
                ?? true, "the current step is behind the next")
    }
}

/// An applied action of a child.
struct ChildAction: Equatable {
    /// The child's path.
    var path: SlicePath
    /// The encoded action.
    var bytes: [UInt8]

    /// The action and its path as a short text.
    var text: String { "\(WireValue.texts(of: bytes)) of \(path)" }
}

/// A transaction in a ``TestStore``, with the parts that the test has not accounted for.
struct TestStep<R: Reactor> {
    var sequence: UInt64
    /// The applied actions of the root.
    var actions: [R.Action] = []
    /// The applied actions of children.
    var childActions: [ChildAction] = []
    /// The change of each node, in the order of the first mutation.
    var changes: [NodeChange] = []

    /// Whether all parts are accounted for.
    var isEmpty: Bool { actions.isEmpty && changes.isEmpty }

    mutating func add(_ change: NodeChange) {
        if let index = changes.firstIndex(where: { $0.node === change.node }) {
            changes[index] = changes[index].followed(by: change)
        } else {
            changes.append(change)
        }
    }

    /// The transaction as a short text.
    var text: String {
        let who = actions.isEmpty ? "emission" : "action"
        let what =
            actions.map { WireValue.texts(of: $0.wireBytes()) } + changes.map(\.text)
        return "\(who) \(sequence): \(what.joined(separator: "; "))"
    }
}
