import ReactorThreads

/// A started saga, to wait for or to cancel.
///
/// Releasing the handle does not end the saga.
public struct SagaHandle<Value: Sendable>: Sendable {
    let scope: SagaScope
    let result: Guarded<Value?>

    /// Cancels the saga and everything attached to it; drops its later dispatches.
    public func cancel() { scope.cancel() }

    /// Whether the saga, or anything attached to it, still runs.
    public var isRunning: Bool { !scope.isOver }

    /// The saga's result, once it and everything attached to it have ended.
    ///
    /// *Throws*: its error; `CancellationError` if the saga, or the waiting task, was cancelled.
    public var value: Value {
        get async throws {
            let wait = SagaWait<Value>(by: scope.runtime.lock)
            scope.whenDecided { [result] end in
                switch end {
                case .completed:
                    // A completed saga has stored its value.
                    if let value = result.withLock({ $0 }) { wait.give(.success(value)) }
                case .cancelled: wait.give(.failure(CancellationError()))
                case .failed(let error): wait.give(.failure(error))
                }
            }
            return try await wait.value()
        }
    }
}
