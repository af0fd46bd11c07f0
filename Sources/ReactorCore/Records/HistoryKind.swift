/// The kinds of values that a history contains of a reactor.
public enum HistoryKind: Sendable, Equatable {
    /// A state, in a snapshot.
    case state
    /// A mutation, in the journal.
    case mutation
    /// A pending action, planned with ``Mutations/scheduling(_:after:catchUp:_:)``.
    case action
}
