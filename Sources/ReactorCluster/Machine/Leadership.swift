/// A take-over that has no answer yet. It is repeated unchanged until it has one.
struct Candidacy: Equatable {
    /// The state that must not have moved.
    let seen: LeaderSighting
    /// The claim that the leader key gets.
    let record: LeaderRecord
    /// When it was sent for the first time.
    let sentAt: UInt64
}

/// A leader's state in its term: the rows that wait, and the last confirmation.
///
/// *Shape*: a confirmation counts from the time when the confirmed call was *sent* for the first
/// time, since the engine may have applied it at once. ``isSuspended`` holds from
/// ``ClusterSettings/tenure`` after that time until a later confirmation, and the leadership ends
/// ``ClusterSettings/patience`` after it.
struct Leadership {
    let term: UInt64
    /// The rows that the log does not have yet.
    var queue: AppendQueue
    /// Names the node that gets the leadership once the queue is empty. A struct, since a leader
    /// may step down without a successor.
    private(set) var stepDown: StepDown?
    private(set) var isSuspended = false
    private var isRetired = false
    private var confirmedAt: UInt64
    private let tenure: UInt64
    private let patience: UInt64

    /// What the passing of time ends.
    enum Expiry: Equatable {
        /// The leader stops acting, and may go on after a confirmation.
        case suspension
        /// The leader gives up.
        case end
    }

    /// A request to step down.
    struct StepDown: Equatable {
        let successor: ClusterNode?
    }

    /// The leadership of `term`, whose take-over was sent at `sentAt`.
    init(
        term: UInt64, behind row: RowPosition, sentAt: UInt64, tenure: UInt64, patience: UInt64
    ) {
        self.term = term
        self.tenure = tenure
        self.patience = patience
        queue = AppendQueue(term: term, behind: row)
        confirmedAt = sentAt
    }

    /// When the leader must stop acting, or give up.
    var expiry: UInt64 { confirmedAt + (isSuspended ? patience : tenure) }

    /// The kind of the next call that changes the log or the leader key.
    var nextChange: EngineCallKind {
        if queue.flight != nil { return .append }
        return stepDown != nil && queue.isEmpty ? .vacate : .beat
    }

    /// Stops acting if the time is over. Returns what ends now, in order.
    mutating func expire(at now: UInt64) -> [Expiry] {
        guard now >= expiry else { return [] }
        let isNew = !isSuspended
        isSuspended = true
        return (isNew ? [.suspension] : []) + (now >= expiry ? [.end] : [])
    }

    /// Stops acting for good: the leadership is handed over, and the successor may act before the
    /// answer comes. Returns whether the leader was acting before.
    mutating func retire() -> Bool {
        isRetired = true
        defer { isSuspended = true }
        return !isSuspended
    }

    /// The engine confirmed a call that was sent at `sentAt`. Returns whether the leader acts again.
    mutating func confirm(sentAt: UInt64, at now: UInt64) -> Bool {
        confirmedAt = max(confirmedAt, sentAt)
        guard isSuspended, !isRetired, now < confirmedAt + tenure else { return false }
        isSuspended = false
        return true
    }

    /// Queues rows, unless the leadership is to be handed over. Returns whether it did.
    mutating func accept(_ rows: [LogRow]) -> Bool {
        guard stepDown == nil else { return false }
        queue.add(rows)
        return true
    }

    /// Hands over the leadership once the queue is empty. From now on, rows are not accepted.
    mutating func give(to successor: ClusterNode?) { stepDown = StepDown(successor: successor) }
}
