/// What the engine reports: see ``LogEngine`` for the order of answers and connections.
package enum EngineEvent: Equatable, Sendable {
    /// A connection is open. Nothing is unanswered, and nothing is watched.
    case up
    /// The connection ended, with the reason for the operator's log.
    case down(String)

    /// The report is stored. `version` is the number of reports of this node so far, this one
    /// included.
    case announced(version: UInt64)
    /// The engine's state at one revision.
    case sighting(LeaderSighting)
    /// The entry is stored: `number` is `expected` + 1, `revision` that of the transaction.
    case appended(LogPosition)
    /// The beat is stored.
    case beaten
    /// A comparison of an append, a beat or a vacate did not hold, so nothing was changed.
    case refused(EngineCallKind, LogRefusal)
    /// The caller has the leadership. `term` is the revision of the transaction, `head` the
    /// position of the log's last entry.
    case won(term: UInt64, head: LogPosition)
    /// A comparison of a take-over did not hold: the state that the same transaction read.
    case lost(LeaderSighting)
    /// The leadership is vacant. `term` is the revision of the transaction.
    case vacated(term: UInt64)
    /// The history is compacted.
    case trimmed
    /// No answer: the transaction may be applied already, later, or never.
    case unknown(EngineCallKind, EngineOutage)

    /// Entries from the watch. An engine with faults may lose, repeat or reorder them, or go back.
    case entries([StoredEntry])
    /// The watch saw another leader record. A hint: nothing that must be safe depends on it.
    case leader(term: UInt64, LeaderRecord)
    /// The watch would begin in compacted history, and ended. `upTo` is the compacted revision.
    case compacted(upTo: UInt64)
    /// The watch ended for another reason; the connection stays open.
    case watchEnded(String)
    /// A stored value cannot be decoded.
    case damaged(RecordError)

    /// The kind of the call that the event answers; nil for an event that answers none, and for
    /// ``unknown(_:_:)``.
    package var answered: EngineCallKind? {
        switch self {
        case .announced: .announce
        case .sighting: .look
        case .appended: .append
        case .beaten: .beat
        case .refused(let kind, _): kind
        case .won, .lost: .takeOver
        case .vacated: .vacate
        case .trimmed: .compact
        default: nil
        }
    }
}

/// The reason why a call has no answer.
package enum EngineOutage: Equatable, Sendable {
    /// The connection ended.
    case disconnected
    /// No answer came within ``EngineLimits/answerDeadline``.
    case late
    /// The engine has no space left. Its answer does not tell whether it applied the transaction.
    case full
    /// The engine answered with another error, such as a new election among its members.
    case error(String)
}

/// The state that made the engine refuse a change.
package struct LogRefusal: Equatable, Sendable {
    /// The log's last entry; nil if the log is empty.
    package var last: StoredEntry?
    /// The mod revision of the leader key; 0 if it does not exist.
    package var term: UInt64
    /// The leader key's value; nil if it does not exist.
    package var leader: LeaderRecord?

    /// Creates the state from the values of the failure branch.
    package init(last: StoredEntry?, term: UInt64, leader: LeaderRecord?) {
        self.last = last
        self.term = term
        self.leader = leader
    }
}
