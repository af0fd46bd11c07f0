/// A piece of saga with a name and arguments of its own, for others to use like the built-in ones.
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
    /// What it gives.
    associatedtype Output: Sendable

    /// Does what it does; `saga` is the one that performs it.
    func run(in saga: SagaContext<Target>) async throws -> Output
}

/// An effect whose type is of no interest.
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

// MARK: - Performing
extension SagaContext {
    /// Does what `effect` does, as a part of this saga.
    public func perform<Output>(_ effect: some SagaEffect<R, Output>) async throws -> Output {
        try await effect.run(in: self)
    }

    /// Performs all effects at once: see ``all(_:)``.
    public func all<Output>(
        _ effects: [AnySagaEffect<R, Output>]
    ) async throws -> [Output] {
        try await all(effects.map(\.member))
    }

    /// Performs effects at once, for the first that ends: see ``first(_:)``.
    public func first<Output>(_ effects: [AnySagaEffect<R, Output>]) async throws -> Output {
        try await first(effects.map(\.member))
    }
}
