import ReactorThreads

/// Carries one answer from the client's thread to a task, which may stop waiting first.
final class OneAnswer<Value: Sendable>: Sendable {
    private let state = Guarded(State.empty)

    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, Never>)
        case given(Value)
        case taken
    }

    /// Stores the answer; a second one is dropped.
    func give(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .empty:
                state = .given(value)
                return nil
            case .waiting(let continuation):
                state = .taken
                return continuation
            case .given, .taken: return nil
            }
        }
        continuation?.resume(returning: value)
    }

    /// Waits for the answer; a cancelled task gets `cancelled` instead.
    func wait(cancelled: Value) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    guard case .given(let value) = state else {
                        state = .waiting(continuation)
                        return nil
                    }
                    state = .taken
                    return value
                }
                if let value { continuation.resume(returning: value) }
            }
        } onCancel: {
            give(cancelled)
        }
    }
}
