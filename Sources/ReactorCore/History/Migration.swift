/// What of a reactor was written by an older version of it.
public enum HistoryKind: Sendable, Equatable {
    /// A state, in a snapshot.
    case state
    /// A mutation, in the journal.
    case mutation
    /// An action that was planned with ``Mutations/scheduling(_:after:catchUp:_:)`` and has not come.
    case action
}

extension Reactor {
    /// Has no answer.
    public static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue? { nil }
}

extension Node {
    /// Reads what today's types do not read, as the reactor makes it of that.
    ///
    /// *Throws*: `error`, where the reactor has no answer, or one that cannot be read either.
    @usableFromInline
    func migrated<Value: WireCodable>(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, of kind: HistoryKind,
        instead error: WireError
    ) throws(WireError) -> Value {
        guard let old = try? WireValue.decode(bytes, &cursor),
            let new = R.migrate(old, of: kind)
        else { throw error }
        return try Value(keptBytes: new.wireBytes().span)
    }
}
