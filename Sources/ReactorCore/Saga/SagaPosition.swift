import ReactorThreads

/// The position of a saga in a log.
///
/// Before its first take, a saga sees the notes written while it runs, and none written while it
/// waits. From then on it *reads*: the next take starts right after the note that the one before
/// took, whatever the saga waited for in between. While a take waits, the position is asleep, since
/// the broker passes notes to the take directly.
final class SagaPosition<R: Reactor>: Sendable {
    let log: SagaLog<R>
    private let state: Guarded<State>

    private struct State {
        /// The first note for the next take; `nil` while a take waits.
        var cursor: UInt64?
        /// The first note since the saga last resumed; `nil` while it waits.
        var resumed: UInt64?
        /// Whether the log keeps notes for the saga during other waits.
        var isReading = false
        /// Notes from the cursor on that the saga does not see: those of its own actions, and
        /// those that others took in its place.
        var skipped: [Range<UInt64>] = []
        /// The record of a saga that takes in place of another.
        var member: Member?
        var isClosed = false

        mutating func goOn(from cursor: UInt64) {
            (self.cursor, resumed) = (cursor, cursor)
            isReading = true
            skipped.removeAll { $0.upperBound <= cursor }
        }
    }

    /// The notes that a member of a group took in place of the saga that waits for the group.
    private struct Member {
        /// The taken notes, in order.
        var taken: [UInt64] = []
        /// The note after the last one that it took or skipped; `nil` before its first take.
        var passed: UInt64?
    }

    /// Starts at note `cursor`, or at the end of the log.
    init(_ log: SagaLog<R>, from cursor: UInt64? = nil) {
        self.log = log
        state = Guarded(State(), by: log.runtime.lock)
        log.runtime.lock.withLock { wakeWhileLocked(at: cursor) }
    }

    private init(like other: SagaPosition, isReading: Bool) {
        log = other.log
        state = Guarded(State(), by: log.runtime.lock)
        log.runtime.lock.withLock {
            let (cursor, skipped) = other.state.whileLocked { ($0.cursor, $0.skipped) }
            wakeWhileLocked(at: cursor)
            state.whileLocked { state in
                state.skipped = skipped
                state.isReading = isReading
                state.member = Member()
            }
        }
    }

    /// A position for a new saga, at the note from which this saga last resumed.
    func copy() -> SagaPosition { SagaPosition(log, from: resumed) }

    /// A position for a saga that takes in place of this one.
    func twin(isReading: Bool) -> SagaPosition { SagaPosition(like: self, isReading: isReading) }

    /// The first note for the next take; `nil` while a take waits.
    var cursor: UInt64? { state.withLock { $0.cursor } }

    /// The first note since the saga last resumed; `nil` while it waits.
    var resumed: UInt64? { state.withLock { $0.resumed } }

    /// Notes from the cursor on that the saga does not see.
    var skipped: [Range<UInt64>] { state.withLock { $0.skipped } }

    /// Ends a take with note `number`; the position moves after it.
    func take(_ number: UInt64) {
        let first = log.state.withLock { $0.first }
        state.withLock { state in
            // Notes that the log has dropped are removed here, so the list is no longer than the
            // log.
            if let last = state.member?.taken.first, last < first {
                state.member?.taken.removeAll { $0 < first }
            }
            state.member?.taken.append(number)
        }
        wake(at: number &+ 1)
    }

    /// Records that a take has skipped the notes before `number`, and waits.
    func pass(_ number: UInt64) {
        state.withLock { state in
            if state.member != nil { state.member?.passed = number }
        }
    }

    /// Moves to the end of the log.
    func wakeNow() { wake(at: log.end) }

    private func wake(at cursor: UInt64) {
        log.runtime.lock.withLock {
            // A log without awake positions drops its notes, so this one is counted before it is
            // used.
            let wasAwake = state.whileLocked { state in
                if state.member != nil { state.member?.passed = cursor }
                guard !state.isClosed else { return true }
                defer { state.goOn(from: cursor) }
                return state.cursor != nil
            }
            if !wasAwake { log.state.whileLocked { $0.awake += 1 } }
        }
    }

    /// Excludes the notes of the saga's own action.
    func skip(_ notes: Range<UInt64>) {
        log.runtime.lock.withLock {
            let first = log.state.whileLocked { $0.first }
            state.whileLocked { state in
                guard state.isReading, !notes.isEmpty else { return }
                // Ranges that the log has dropped are removed here, so the list is no longer than
                // the log.
                state.skipped.removeAll { $0.upperBound <= first }
                state.skipped.append(notes)
            }
        }
    }

    /// Puts the position to sleep: the broker passes notes to the waiting take directly.
    func sleepWhileLocked() {
        let wasAwake = state.whileLocked { state in
            defer { (state.cursor, state.resumed) = (nil, nil) }
            return state.cursor != nil
        }
        guard wasAwake else { return }
        log.state.whileLocked { log in
            log.awake -= 1
            if log.awake == 0 { log.forget() }
        }
    }
}

// MARK: - Sagas that take in place of another
extension SagaPosition {
    /// Keeps the saga's unread notes while others take in its place. Returns a value for
    /// ``release(_:to:besides:)``.
    func hold() -> Bool {
        state.withLock { state in
            defer { if state.cursor != nil { state.isReading = true } }
            return state.isReading
        }
    }

    /// Continues after the notes that `winners` took or skipped in place of the saga, from the
    /// first that one of them, or of the `losers`, left over. If none of them took any, it
    /// continues as after any other wait. The saga does not see notes taken by winners, or those
    /// of their own actions and the losers'.
    func release(_ wasReading: Bool, to winners: [SagaPosition], besides losers: [SagaPosition]) {
        log.runtime.lock.withLock {
            let won = winners.compactMap { $0.state.whileLocked { $0.member } }
            let lost = losers.compactMap { $0.state.whileLocked { $0.member } }
            let left =
                won.compactMap { $0.passed } + lost.compactMap { $0.taken.first ?? $0.passed }
            let taken = won.flatMap { $0.taken }.map { $0..<($0 &+ 1) }
            let put = (winners + losers).flatMap { $0.state.whileLocked { $0.skipped } }
            state.whileLocked { state in
                guard let cursor = state.cursor else { return }
                state.isReading = wasReading
                if let next = left.min() {
                    let resumed = state.resumed
                    state.goOn(from: max(next, cursor))
                    state.resumed = resumed
                } else if !wasReading {
                    state.cursor = state.resumed ?? cursor
                }
                for notes in taken + put
                where notes.upperBound > (state.cursor ?? cursor)
                    && !state.skipped.contains(notes)
                {
                    state.skipped.append(notes)
                }
            }
        }
    }
}

/// A saga's position, without its reactor's type.
///
/// *Owner*: callers hold the lock of the sagas' ``SagaRuntime``.
protocol SagaPositioning: AnyObject, Sendable {
    /// The saga waits: the position sleeps, unless the saga reads.
    func pauseWhileLocked()
    /// The saga resumes: a sleeping position wakes at note `cursor`, or at the end of the log.
    func wakeWhileLocked(at cursor: UInt64?)
    /// Ends the position.
    func closeWhileLocked()
}

extension SagaPosition: SagaPositioning {
    func pauseWhileLocked() {
        let reads = state.whileLocked { state in
            if state.isReading { state.resumed = nil }
            return state.isReading
        }
        if !reads { sleepWhileLocked() }
    }

    func wakeWhileLocked(at cursor: UInt64?) {
        let end = log.state.whileLocked { $0.end }
        let hasWoken = state.whileLocked { state in
            guard !state.isClosed else { return false }
            guard state.cursor == nil else {
                state.resumed = state.resumed ?? end
                return false
            }
            state.cursor = cursor ?? end
            state.resumed = state.cursor
            return true
        }
        if hasWoken { log.state.whileLocked { $0.awake += 1 } }
    }

    func closeWhileLocked() {
        sleepWhileLocked()
        state.whileLocked { $0.isClosed = true }
    }
}
