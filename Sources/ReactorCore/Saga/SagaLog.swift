import ReactorThreads

/// What a reactor did, as its sagas hear of it: committed, in order.
package enum SagaNote<R: Reactor>: Sendable {
    case action(R.Action)
    case mutation(R.Mutation)

    /// The action, if it is one.
    var action: R.Action? { if case .action(let action) = self { action } else { nil } }
}

/// What happened to one reactor while one of its sagas was between two of its waits.
///
/// Kept only while a saga reads: nothing is remembered for those that wait for their next action, nor
/// for those that never took one and wait for something else. *Shape*: the last
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

    package init(_ room: SagaRoom) {
        self.room = room
        state = Guarded(State(), by: room.lock)
    }

    /// Number of the next note.
    package var end: UInt64 { state.withLock { $0.end } }

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
