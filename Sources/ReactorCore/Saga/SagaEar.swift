import ReactorThreads

/// Where a saga is in a log.
///
/// Before its first take a saga hears while it runs, and nothing while it waits. From then on it
/// *reads*: the next take begins right behind what the one before took, whatever the saga waited for
/// in between. It is asleep while a take waits, for that is told by the desk.
final class SagaEar<R: Reactor>: Sendable {
    let log: SagaLog<R>
    private let state: Guarded<State>

    private struct State {
        /// The first note for the next take; none while the saga waits for it.
        var cursor: UInt64?
        /// The first note since the saga last went on; none while it waits.
        var resumed: UInt64?
        /// Whether what comes while the saga waits for something else is kept for it.
        var isReading = false
        /// Notes that are no news to the saga, from the cursor on: what it put itself, and what was taken
        /// in its place.
        var skipped: [Range<UInt64>] = []
        /// What is remembered of a saga that takes in place of another.
        var member: Member?
        var isClosed = false

        mutating func goOn(from cursor: UInt64) {
            (self.cursor, resumed) = (cursor, cursor)
            isReading = true
            skipped.removeAll { $0.upperBound <= cursor }
        }
    }

    /// What a saga did that takes in place of another.
    private struct Member {
        /// The notes that it took, in order.
        var taken: [UInt64] = []
        /// The note behind the last that it took or that its takes passed over, if it began one.
        var passed: UInt64?
    }

    /// Makes an ear that hears from note `cursor` on; from now on, where that is nil.
    init(_ log: SagaLog<R>, from cursor: UInt64? = nil) {
        self.log = log
        state = Guarded(State(), by: log.room.lock)
        log.room.lock.withLock { wakeWhileLocked(at: cursor) }
    }

    private init(like other: SagaEar, isReading: Bool) {
        log = other.log
        state = Guarded(State(), by: log.room.lock)
        log.room.lock.withLock {
            let (cursor, skipped) = other.state.whileLocked { ($0.cursor, $0.skipped) }
            wakeWhileLocked(at: cursor)
            state.whileLocked { state in
                state.skipped = skipped
                state.isReading = isReading
                state.member = Member()
            }
        }
    }

    /// Another ear, which hears from where this one's saga last went on.
    func copy() -> SagaEar { SagaEar(log, from: resumed) }

    /// Another ear, for a saga that takes in place of this one's.
    func twin(isReading: Bool) -> SagaEar { SagaEar(like: self, isReading: isReading) }

    /// The first note for the next take; none while the saga waits for it.
    var cursor: UInt64? { state.withLock { $0.cursor } }

    /// The first note since the saga last went on; none while it waits.
    var resumed: UInt64? { state.withLock { $0.resumed } }

    /// The notes from the cursor on that are no news to the saga.
    var skipped: [Range<UInt64>] { state.withLock { $0.skipped } }

    /// A take has ended with note `number`: hears on behind it.
    func take(_ number: UInt64) {
        let first = log.state.withLock { $0.first }
        state.withLock { state in
            // What the log has dropped need not be known: there are at most as many as notes.
            if let last = state.member?.taken.first, last < first {
                state.member?.taken.removeAll { $0 < first }
            }
            state.member?.taken.append(number)
        }
        wake(at: number &+ 1)
    }

    /// A take has passed over the notes before `number`, and waits.
    func pass(_ number: UInt64) {
        state.withLock { state in
            if state.member != nil { state.member?.passed = number }
        }
    }

    /// Hears on from here, whatever it had not heard yet.
    func wakeNow() { wake(at: log.end) }

    private func wake(at cursor: UInt64) {
        log.room.lock.withLock {
            // A log that no ear needs forgets: the ear is counted before it is left.
            let wasAwake = state.whileLocked { state in
                if state.member != nil { state.member?.passed = cursor }
                guard !state.isClosed else { return true }
                defer { state.goOn(from: cursor) }
                return state.cursor != nil
            }
            if !wasAwake { log.state.whileLocked { $0.awake += 1 } }
        }
    }

    /// Leaves out notes of what the saga put itself.
    func skip(_ notes: Range<UInt64>) {
        log.room.lock.withLock {
            let first = log.state.whileLocked { $0.first }
            state.whileLocked { state in
                guard state.isReading, !notes.isEmpty else { return }
                // What the log has dropped needs no mark: there are at most as many as notes.
                state.skipped.removeAll { $0.upperBound <= first }
                state.skipped.append(notes)
            }
        }
    }

    /// A take waits, which the desk tells of all that comes.
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
extension SagaEar {
    /// Keeps what the saga has not taken while others take in its place; gives what
    /// ``release(_:to:besides:)`` wants.
    func hold() -> Bool {
        state.withLock { state in
            defer { if state.cursor != nil { state.isReading = true } }
            return state.isReading
        }
    }

    /// Goes on behind what `winners` took or passed over in place of the saga, from the first that one
    /// of them, or of the `losers`, has left; where none of them took any, as if the saga had waited for
    /// something else. What the winners took and what any of them put is no news to it.
    func release(_ wasReading: Bool, to winners: [SagaEar], besides losers: [SagaEar]) {
        log.room.lock.withLock {
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

/// An ear whose reactor's type is of no interest.
///
/// *Owner*: whoever is inside the room's lock.
protocol SagaHearing: AnyObject, Sendable {
    /// Its saga waits: hears nothing from now on, unless it reads.
    func pauseWhileLocked()
    /// Its saga goes on: hears from note `cursor` on, or from now on, if it heard nothing.
    func wakeWhileLocked(at cursor: UInt64?)
    /// Hears nothing any more.
    func closeWhileLocked()
}

extension SagaEar: SagaHearing {
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
