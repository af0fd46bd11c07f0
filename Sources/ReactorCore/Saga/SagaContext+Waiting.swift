// MARK: - Waiting for the world
extension SagaContext {
    /// Waits, by the clock of the tree.
    public func sleep(for duration: Duration) async throws {
        try await pausing { try await room.clock.sleep(for: duration) }
    }

    /// Calls a function that answers through a callback, and waits for the answer.
    ///
    ///     let user = try await saga.call { completion in
    ///         directory.find("ada") { completion($0) }
    ///     }
    ///
    /// The first answer counts. A saga that is cancelled does not wait for it.
    public func call<Value: Sendable>(
        _ body: (SagaCompletion<Value>) -> Void
    ) async throws -> Value {
        try await pausing {
            try await waiting { wait in body(SagaCompletion(wait: wait)) }
        }
    }

    /// Runs a block as a task of its own, and waits for what it returns.
    ///
    /// A saga that is cancelled cancels the block and does not wait for it.
    public func async<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run { _ in try await body() }
    }
}

/// Takes the answer of a function that was called.
public struct SagaCompletion<Value: Sendable>: Sendable {
    let wait: SagaWait<Value>

    /// Gives the answer; a second one is dropped.
    public func callAsFunction(_ value: Value) { wait.give(.success(value)) }

    /// Gives the answer, or says that there is none; a second one is dropped.
    public func callAsFunction(_ result: Result<Value, any Error>) { wait.give(result) }

    /// Says that there is no answer.
    public func callAsFunction(throwing error: any Error) { wait.give(.failure(error)) }
}
