import ReactorThreads

/// A saga that was begun: who holds it can wait for it, or cancel it.
///
/// Letting go of it ends nothing.
public struct SagaHandle<Value: Sendable>: Sendable {
    let scope: SagaScope
    let result: Guarded<Value?>

    /// Cancels the saga with all that is attached to it; what it still puts is dropped.
    public func cancel() { scope.cancel() }

    /// Whether it has not ended, with all that is attached to it.
    public var isRunning: Bool { !scope.isOver }

    /// What it returned, once it has ended with all that is attached to it.
    ///
    /// *Throws*: its error; `CancellationError` if it, or the task that waits, was cancelled.
    public var value: Value {
        get async throws {
            let wait = SagaWait<Value>(by: scope.room.lock)
            scope.whenDecided { [result] end in
                switch end {
                case .completed:
                    // because a saga that is through has left its value
                    if let value = result.withLock({ $0 }) { wait.give(.success(value)) }
                case .cancelled: wait.give(.failure(CancellationError()))
                case .failed(let error): wait.give(.failure(error))
                }
            }
            return try await wait.value()
        }
    }
}
