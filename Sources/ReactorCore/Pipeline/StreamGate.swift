import ReactorThreads

/// A bounded queue of values in front of one stream of a ``Transform``; a later reader continues
/// where an earlier one ended.
///
/// *Owner*: filled on the tree's isolation; read by the stream's task.
final class StreamGate<Value: Sendable>: Sendable {
    private let state = Guarded(State())

    private struct State: Sendable {
        var values: [Value] = []
        /// Number of values reserved by transactions that are not committed.
        var reserved = 0
        var reader: CheckedContinuation<Value?, Never>?
        /// Whether the current reader has read a value.
        var hasRead = false
    }

    /// Records that a new reader begins.
    func noteReader() { state.withLock { $0.hasRead = false } }

    /// Whether values wait for a next reader.
    var isWanted: Bool { state.withLock { $0.hasRead && !$0.values.isEmpty } }

    /// Reserves capacity for a value. Returns false at the limit.
    func reserve() -> Bool {
        state.withLock { state in
            guard state.values.count + state.reserved < CoreLimits.streamedValuesMax else {
                return false
            }
            state.reserved += 1
            return true
        }
    }

    /// Releases a reservation without a value.
    func release() { state.withLock { $0.reserved -= 1 } }

    /// Adds a value for which capacity was reserved.
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

    /// The values for one reader; values that it leaves are for the next reader.
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
