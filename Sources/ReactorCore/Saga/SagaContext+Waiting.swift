// MARK: - Waiting for time and other code
extension SagaContext {
    /// Waits for `duration` on the tree's clock.
    public func sleep(for duration: Duration) async throws {
        try await pausing { try await room.clock.sleep(for: duration) }
    }

    /// Calls a function with a callback, and waits for its answer.
    ///
    ///     let user = try await saga.call { completion in
    ///         directory.find("ada") { completion($0) }
    ///     }
    ///
    /// The first answer counts. A cancelled saga stops waiting.
    public func call<Value: Sendable>(
        _ body: (SagaCompletion<Value>) -> Void
    ) async throws -> Value {
        try await pausing {
            try await waiting { wait in body(SagaCompletion(wait: wait)) }
        }
    }

    /// Runs a block as a task of its own, and returns its result.
    ///
    /// Cancelling the saga cancels the block, and does not wait for it.
    public func async<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run { _ in try await body() }
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
