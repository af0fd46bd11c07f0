/// A reusable step of sagas with a name and arguments, used like the built-in ones.
///
///     struct Retry: SagaEffect {
///         var times: Int
///         let body: @Sendable (SagaContext<Tracker>) async throws -> Void
///
///         func run(in saga: SagaContext<Tracker>) async throws {
///             for left in (0..<times).reversed() {
///                 do { return try await saga.run(body) } catch where left > 0 {}
///             }
///         }
///     }
///
///     try await saga.perform(Retry(times: 3, body: load))
public protocol SagaEffect<Target, Output>: Sendable {
    /// The reactor whose sagas can use it.
    associatedtype Target: Reactor
    /// The type of its result.
    associatedtype Output: Sendable

    /// Runs the step as part of `saga`.
    func run(in saga: SagaContext<Target>) async throws -> Output
}

/// A saga effect without its type.
public struct AnySagaEffect<Target: Reactor, Output: Sendable>: SagaEffect {
    private let body: @Sendable (SagaContext<Target>) async throws -> Output

    /// Erases the type of `effect`.
    public init(_ effect: some SagaEffect<Target, Output>) {
        body = { saga in try await effect.run(in: saga) }
    }

    /// Makes an effect of a function.
    public init(_ body: @escaping @Sendable (SagaContext<Target>) async throws -> Output) {
        self.body = body
    }

    public func run(in saga: SagaContext<Target>) async throws -> Output { try await body(saga) }

    var member: SagaContext<Target>.Member<Output> { body }
}
