import ReactorThreads

/// What a reactor did, as its sagas hear of it: committed, in order.
package enum SagaNote<R: Reactor>: Sendable {
    case action(R.Action)
    case mutation(R.Mutation)
}

/// What happened to one reactor while one of its sagas was between two of its waits.
///
/// Kept only while a saga is: nothing is remembered for those that wait. *Shape*: the last
/// ``CoreLimits/sagaLogMax`` notes, at least.
/// *Owner*: written on the tree's isolation; any thread reads where the end is.
package final class SagaLog<R: Reactor>: Sendable {
    let room: SagaRoom
    let state: Guarded<State>

    struct State {
        var notes: [SagaNote<R>] = []
        /// Number of the first note that is kept.
        var first: UInt64 = 0
        /// How many ears want to have what comes.
        var awake = 0

        /// Number of the next note.
        var end: UInt64 { first &+ UInt64(notes.count) }

        mutating func forget() {
            first = end
            notes.removeAll()
        }
    }

    init(_ room: SagaRoom) {
        self.room = room
        state = Guarded(State(), by: room.lock)
    }

    /// How many notes are kept.
    var keptCount: Int { state.withLock { $0.notes.count } }

    /// Writes down a note where somebody wants to have it, and gives its number.
    func append(_ note: SagaNote<R>) -> UInt64 {
        state.withLock { state in
            let number = state.end
            guard state.awake > 0 else {
                state.first &+= 1
                return number
            }
            state.notes.append(note)
            // because dropping one note each time would move all the others
            if state.notes.count >= 2 * CoreLimits.sagaLogMax {
                state.notes.removeFirst(CoreLimits.sagaLogMax)
                state.first &+= UInt64(CoreLimits.sagaLogMax)
            }
            return number
        }
    }

    /// The notes from number `cursor` on, and how many of them are gone.
    func notes(from cursor: UInt64) -> (notes: ArraySlice<SagaNote<R>>, missed: UInt64) {
        state.withLock { state in
            guard cursor >= state.first else { return ([], state.first - cursor) }
            return (state.notes.dropFirst(Int(cursor - state.first)), 0)
        }
    }
}

/// Where a saga is in a log: awake from its last resumption on, asleep while it waits.
final class SagaEar<R: Reactor>: Sendable {
    let log: SagaLog<R>
    private let state: Guarded<State>

    private struct State {
        /// The first note that the saga may see; none while it waits.
        var cursor: UInt64?
        var isClosed = false
    }

    /// Makes an ear that hears from note `cursor` on; from now on, where that is nil.
    init(_ log: SagaLog<R>, from cursor: UInt64? = nil) {
        self.log = log
        state = Guarded(State(), by: log.room.lock)
        log.room.lock.withLock { wakeWhileLocked(at: cursor) }
    }

    /// Another ear at the same place.
    func copy() -> SagaEar { SagaEar(log, from: cursor) }

    var cursor: UInt64? { state.withLock { $0.cursor } }

    /// Hears on from note `cursor`.
    func wake(at cursor: UInt64) {
        log.room.lock.withLock {
            // because a log that nobody hears forgets, it is heard before it is left
            let wasAwake = state.whileLocked { state in
                guard !state.isClosed else { return true }
                defer { state.cursor = cursor }
                return state.cursor != nil
            }
            if !wasAwake { log.state.whileLocked { $0.awake += 1 } }
        }
    }

    /// Hears on from here, whatever it had not heard yet.
    func wakeNow() { wake(at: log.state.withLock { $0.end }) }
}

/// An ear whose reactor's type is of no interest.
///
/// *Owner*: whoever is inside the room's lock.
protocol SagaHearing: AnyObject, Sendable {
    /// Hears nothing from now on.
    func pauseWhileLocked()
    /// Hears from note `cursor` on, or from now on, if it heard nothing.
    func wakeWhileLocked(at cursor: UInt64?)
    /// Hears nothing any more.
    func closeWhileLocked()
}

extension SagaEar: SagaHearing {
    func pauseWhileLocked() {
        let wasAwake = state.whileLocked { state in
            defer { state.cursor = nil }
            return state.cursor != nil
        }
        guard wasAwake else { return }
        log.state.whileLocked { log in
            log.awake -= 1
            if log.awake == 0 { log.forget() }
        }
    }

    func wakeWhileLocked(at cursor: UInt64?) {
        let end = log.state.whileLocked { $0.end }
        let hasWoken = state.whileLocked { state in
            guard state.cursor == nil, !state.isClosed else { return false }
            state.cursor = cursor ?? end
            return true
        }
        if hasWoken { log.state.whileLocked { $0.awake += 1 } }
    }

    func closeWhileLocked() {
        pauseWhileLocked()
        state.whileLocked { $0.isClosed = true }
    }
}
