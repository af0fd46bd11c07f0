import ReactorWire

/// The kinds of values that a history contains of a reactor.
public enum HistoryKind: Sendable, Hashable {
    /// A state, in a snapshot.
    case state
    /// A mutation, in the journal.
    case mutation
    /// A pending action, planned with ``Mutations/scheduling(_:after:catchUp:_:)``.
    case action
    /// The payload of a pending durable task, with ``DurableTaskKind/name``.
    case task(String)
}

extension HistoryKind: CustomStringConvertible {
    public var description: String {
        switch self {
        case .state: "state"
        case .mutation: "mutation"
        case .action: "action"
        case .task(let name): "payload of the durable task \(name.quoted())"
        }
    }
}
