package import ReactorThreads

/// One result that a saga waits for; the first that is given counts.
///
/// *Owner*: any thread gives, one task waits.
package final class SagaWait<Value: Sendable>: Sendable {
    private let state: Guarded<Stage>

    private enum Stage {
        case empty
        case waiting(CheckedContinuation<Value, any Error>)
        case given(Result<Value, any Error>)
        case taken
    }

    /// Makes a wait whose state `lock` guards.
    package init(by lock: Lock) { state = Guarded(.empty, by: lock) }

    /// Gives the result. Returns false if there was one already.
    @discardableResult
    package func give(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, continuation) = state.withLock {
            stage -> (Bool, CheckedContinuation<Value, any Error>?) in
            switch stage {
            case .empty:
                stage = .given(result)
                return (true, nil)
            case .waiting(let continuation):
                stage = .taken
                return (true, continuation)
            case .given, .taken: return (false, nil)
            }
        }
        continuation?.resume(with: result)
        return isFirst
    }

    /// Whether the result has been given.
    var isGiven: Bool { state.withLock { Self.isGiven($0) } }

    /// The same, for callers that hold the lock.
    var isGivenWhileLocked: Bool { state.whileLocked { Self.isGiven($0) } }

    private static func isGiven(_ stage: Stage) -> Bool {
        switch stage {
        case .empty, .waiting: false
        case .given, .taken: true
        }
    }

    /// Waits for the result; throws `CancellationError` in a cancelled task.
    package func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { stage -> Result<Value, any Error>? in
                    guard case .given(let result) = stage else {
                        stage = .waiting(continuation)
                        return nil
                    }
                    stage = .taken
                    return result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            give(.failure(CancellationError()))
        }
    }

    /// Waits for the result. After `timeout` without one, calls `expire`, which must give one.
    /// Calls `leave` if the task is cancelled.
    func value<Wrapped>(
        within timeout: Duration, in runtime: SagaRuntime, expire: @escaping @Sendable () -> Void,
        leave: () -> Void = {}
    ) async throws -> Value where Value == Wrapped? {
        let cancel = runtime.spawn {
            // The sleep throws if the timer was cancelled.
            guard (try? await runtime.clock.sleep(for: timeout)) != nil else { return }
            expire()
        }
        defer { cancel() }
        do {
            return try await value()
        } catch {
            leave()
            throw error
        }
    }
}

/// Receives the answer of a called function.
public struct SagaCompletion<Value: Sendable>: Sendable {
    let wait: SagaWait<Value>

    /// Gives the answer; later answers are dropped.
    public func callAsFunction(_ value: Value) { wait.give(.success(value)) }

    /// Gives the answer or an error; later answers are dropped.
    public func callAsFunction(_ result: Result<Value, any Error>) { wait.give(result) }

    /// Gives an error as the answer.
    public func callAsFunction(throwing error: any Error) { wait.give(.failure(error)) }
}
