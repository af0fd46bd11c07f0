import ReactorThreads

/// The way of values into one stream of a ``Transform``: with room for so many, and a reader that
/// may end and be followed by another.
///
/// *Owner*: filled on the tree's isolation; read by the stream's task.
final class StreamGate<Value: Sendable>: Sendable {
    private let state = Guarded(State())

    private struct State: Sendable {
        var values: [Value] = []
        /// How many are on their way from transactions that are not committed.
        var reserved = 0
        var reader: CheckedContinuation<Value?, Never>?
        /// Whether the reader at hand has read something.
        var hasRead = false
    }

    /// A new reader begins.
    func noteReader() { state.withLock { $0.hasRead = false } }

    /// Whether values wait that another reader would take.
    var isWanted: Bool { state.withLock { $0.hasRead && !$0.values.isEmpty } }

    /// Keeps a place for a value; answers false where there is none.
    func reserve() -> Bool {
        state.withLock { state in
            guard state.values.count + state.reserved < CoreLimits.streamedValuesMax else {
                return false
            }
            state.reserved += 1
            return true
        }
    }

    /// Gives back a place whose value does not come.
    func release() { state.withLock { $0.reserved -= 1 } }

    /// Puts a value in its place.
    func push(_ value: Value) {
        let reader = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            state.reserved -= 1
            guard let reader = state.reader else {
                state.values.append(value)
                return nil
            }
            state.reader = nil
            state.hasRead = true
            return reader
        }
        reader?.resume(returning: value)
    }

    /// The values for one reader; what it leaves is for the next.
    var values: AsyncStream<Value> {
        AsyncStream(unfolding: { await self.next() }, onCancel: { self.wakeReader() })
    }

    private func next() async -> Value? {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Value?? in
                if !state.values.isEmpty {
                    state.hasRead = true
                    return .some(state.values.removeFirst())
                }
                if Task.isCancelled { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    private func wakeReader() {
        let reader = state.withLock { state in
            let reader = state.reader
            state.reader = nil
            return reader
        }
        reader?.resume(returning: nil)
    }
}
