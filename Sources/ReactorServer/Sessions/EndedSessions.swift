import ReactorWire

/// Sessions that ended and whose clients may reconnect: they must not be mistaken for sessions that
/// never had an action here.
///
/// The number of sessions is bounded. For the forgotten ones, only the sequence of the last end is
/// known: a session that began before it may be among them. ``invariants()`` states the invariants.
struct EndedSessions: Sendable {
    /// Maximum number of sessions that are remembered individually.
    static let countMax = 16_384

    private var order = ArrivalOrder<[UInt8]>()
    private var sequences: [[UInt8]: UInt64] = [:]
    /// The highest sequence at which a forgotten session ended; nil if none is forgotten.
    private(set) var forgottenUpTo: UInt64?

    var count: Int { order.count }

    /// The remembered sessions, in the order in which they ended.
    var all: [EndedSession] {
        order.all.map { EndedSession(secret: $0, sequence: sequences[$0] ?? 0) }
    }

    /// Remembers that a session ended when `sequence` was the last transaction.
    mutating func remember(_ secret: [UInt8], at sequence: UInt64) {
        defer { invariants() }
        order.append(secret)
        sequences[secret] = max(sequences[secret] ?? 0, sequence)
        guard order.count > Self.countMax, let first = order.popFirst() else { return }
        forget(upTo: sequences.removeValue(forKey: first) ?? sequence)
    }

    /// Records that sessions which ended at or before this sequence are forgotten.
    mutating func forget(upTo sequence: UInt64) {
        forgottenUpTo = max(forgottenUpTo ?? 0, sequence)
    }

    /// Whether a session may have ended. `since` is a sequence at which it existed, if its client
    /// knows one.
    func mayHold(_ secret: [UInt8], since: UInt64?) -> Bool {
        if sequences[secret] != nil { return true }
        guard let forgottenUpTo else { return false }
        guard let since else { return true }
        return since <= forgottenUpTo
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(order.count == sequences.count, "a session has no place, or no sequence")
        assert(order.count <= Self.countMax, "\(order.count) ended sessions are remembered")
    }
}

/// A session that ended, as it is stored in a snapshot.
@WireCodable
struct EndedSession: Equatable, Sendable {
    var secret: [UInt8]
    /// The sequence of the last transaction before its end.
    var sequence: UInt64
}
