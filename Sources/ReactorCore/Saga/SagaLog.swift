import ReactorThreads

/// A committed action or mutation of a reactor, as its sagas see it.
package enum SagaNote<R: Reactor>: Sendable {
    case action(R.Action)
    case mutation(R.Mutation)

    /// The action, if it is one.
    var action: R.Action? { if case .action(let action) = self { action } else { nil } }
}

/// The recent actions and mutations of one reactor, for sagas between two of their takes.
///
/// The log keeps notes only while a saga reads: not while all sagas wait in a take, or have never
/// taken anything and wait for something else. *Shape*: at least the last ``CoreLimits/sagaLogMax``
/// notes.
/// *Owner*: written on the tree's isolation; any thread may read the end.
package final class SagaLog<R: Reactor>: Sendable {
    let runtime: SagaRuntime
    let state: Guarded<State>

    struct State {
        var notes: [SagaNote<R>] = []
        /// Number of the first note in `notes`.
        var first: UInt64 = 0
        /// Number of positions that need new notes.
        var awake = 0

        /// Number of the next note.
        var end: UInt64 { first &+ UInt64(notes.count) }

        mutating func forget() {
            first = end
            notes.removeAll()
        }
    }

    package init(_ runtime: SagaRuntime) {
        self.runtime = runtime
        state = Guarded(State(), by: runtime.lock)
    }

    /// Number of the next note.
    package var end: UInt64 { state.withLock { $0.end } }

    /// Number of notes in the log.
    var keptCount: Int { state.withLock { $0.notes.count } }

    /// Appends a note if a saga needs it. Returns its number.
    func append(_ note: SagaNote<R>) -> UInt64 {
        state.withLock { state in
            let number = state.end
            guard state.awake > 0 else {
                state.first &+= 1
                return number
            }
            state.notes.append(note)
            // Dropping one note at a time would move all others each time.
            if state.notes.count >= 2 * CoreLimits.sagaLogMax {
                state.notes.removeFirst(CoreLimits.sagaLogMax)
                state.first &+= UInt64(CoreLimits.sagaLogMax)
            }
            return number
        }
    }

    /// The notes from number `cursor` on, and the number of dropped ones among them.
    func notes(from cursor: UInt64) -> (notes: ArraySlice<SagaNote<R>>, missed: UInt64) {
        state.withLock { state in
            guard cursor >= state.first else { return ([], state.first - cursor) }
            return (state.notes.dropFirst(Int(cursor - state.first)), 0)
        }
    }
}
