/// A node of a history: its number, its path, its reactor, and its initial state.
///
/// *Place*: beside the deltas of a journal. A replay compares the recorded reactor with today's
/// reactor at the path, and starts from the recorded state instead of today's initial state, so
/// that a replay of all rows and a start from a snapshot read the same fields.
@WireCodable
package struct NodeRecord: Equatable, Sendable {
    /// ``AnyNode/number``.
    package var number: UInt32
    /// The node's path from the root; for a new child and the nodes below it, the path from that
    /// child.
    package var path: SlicePath
    /// ``AnyNode/reactorName``; empty in histories that do not record it.
    package var reactor: String = ""
    /// ``AnyNode/fingerprint``.
    package var fingerprint: UInt64 = 0
    /// The encoded state, unless the earlier rows lead to it in this form.
    package var state: [UInt8]? = nil

    /// Makes an entry without reactor and state.
    package init(number: UInt32, path: SlicePath) {
        self.number = number
        self.path = path
    }
}

/// A result of a transaction besides its deltas, for a journal.
package enum NodeFact: Equatable, Sendable {
    /// A change of ownership.
    case ownership(OwnershipFact)
    /// A change of a durable task.
    case task(TaskFact)
    /// A child was created with all nodes below it; their initial states.
    case made([NodeRecord])

    /// Whether it records the creation of the node.
    func makes(_ number: UInt32) -> Bool {
        guard case .made(let records) = self else { return false }
        return records.first?.number == number
    }
}
