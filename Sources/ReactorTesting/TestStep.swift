import ReactorCore

/// A transaction, as a test accounts for it.
struct TestStep<R: Reactor> {
    var sequence: UInt64
    /// The root's actions that were applied in it.
    var actions: [R.Action] = []
    /// What it did to each node, in the order of the first mutation.
    var changes: [NodeChange] = []

    /// Whether there is nothing in it to account for.
    var isEmpty: Bool { actions.isEmpty && changes.isEmpty }

    mutating func add(_ change: NodeChange) {
        if let index = changes.firstIndex(where: { $0.node === change.node }) {
            changes[index] = changes[index].followed(by: change)
        } else {
            changes.append(change)
        }
    }

    /// The transaction in a line.
    var text: String {
        let who = actions.isEmpty ? "emission" : "action"
        let what =
            actions.map { WireValue.texts(of: $0.wireBytes()) } + changes.map(\.text)
        return "\(who) \(sequence): \(what.joined(separator: "; "))"
    }
}
