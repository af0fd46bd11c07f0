/// A saga's access to its reactor.
///
/// The first `take` of a saga sees the actions since its last wait. Each later `take`
/// starts right after the action that the one before took. So a loop loses no action, whatever the
/// saga waits for in between, up to ``CoreLimits/sagaLogMax`` actions and mutations; after more,
/// `take` throws ``SagaError/missed(count:)``. A saga does not see the actions that it dispatches
/// with `put` itself. ``skipToNow()`` drops the waiting actions. A handler (``takeEvery(_:do:)``
/// and its siblings) is called for each action and queues none; a ``channel(of:capacity:)`` queues
/// up to its capacity, and refuses actions beyond it.
///
/// *Owner*: the saga that received it; each fork receives its own.
public struct SagaContext<R: Reactor>: Sendable {
    /// One saga of a group.
    public typealias Member<Value> = @Sendable (SagaContext<R>) async throws -> Value

    let host: any SagaHost<R>
    let scope: SagaScope
    let position: SagaPosition<R>

    var runtime: SagaRuntime { scope.runtime }

    /// The clock by which the saga waits.
    public var clock: TreeClock { runtime.clock }

    /// The reactor's path.
    public var path: String { host.path }

    /// Runs `body` as one wait of the saga. Before its first take, a saga does not see the actions
    /// of its waits.
    func pausing<Value>(_ body: () async throws -> Value) async throws -> Value {
        try scope.pause()
        defer { scope.wake() }
        let value = try await body()
        try scope.check()
        return value
    }

    /// Calls `ask` with a wait, and returns the value that it is given.
    func waiting<Value: Sendable>(
        _ type: Value.Type = Value.self, _ ask: (SagaWait<Value>) -> Void
    ) async throws -> Value {
        let wait = SagaWait<Value>(by: runtime.lock)
        ask(wait)
        let value = try await wait.value()
        try scope.check()
        return value
    }
}

// MARK: - Start of the next take
extension SagaContext {
    /// Drops the waiting actions: the next take sees actions from now on.
    public func skipToNow() { position.wakeNow() }

    // MARK: Reading and writing the reactor

    /// The current state.
    public func select() async throws -> R.State { try await select { $0 } }

    /// A part of the current state.
    ///
    ///     let count = try await saga.select(\.count)
    ///
    /// The next take sees everything that happens afterwards.
    public func select<Part: Sendable>(
        _ part: @escaping @Sendable (R.State) -> Part
    ) async throws -> Part {
        try scope.pause()
        return try await waiting { wait in
            host.perform { [host, scope] broker in
                guard let broker else {
                    wait.give(.failure(SagaError.gone(path: host.path)))
                    return
                }
                let value = part(broker.state())
                scope.wake()
                wait.give(.success(value))
            }
        }
    }

    /// Dispatches an action as a separate transaction, and returns when it is committed.
    ///
    /// The next take sees the consequences, followers included, but not the action itself.
    /// *Throws*: ``Rejection`` if the action was refused.
    public func put(_ action: R.Action) async throws {
        try scope.pause()
        try await waiting(Void.self) { wait in
            host.perform { [host, scope, position] broker in
                guard scope.isOpen else {
                    scope.runtime.countDropped()
                    wait.give(.failure(CancellationError()))
                    return
                }
                guard let broker else {
                    wait.give(.failure(SagaError.gone(path: host.path)))
                    return
                }
                broker.put(action, for: position) { result in
                    scope.wake()
                    wait.give(result)
                }
            }
        }
    }

    /// Dispatches an action to the reactor at `path`, and returns when it is committed.
    ///
    /// *Throws*: ``Rejection`` if the action was refused, or no reactor at `path` accepts it.
    public func put(_ action: some WireCodable & Sendable, to path: String) async throws {
        try scope.pause()
        let bytes = WireEmbedded(action)
        try await waiting(Void.self) { wait in
            host.put(bytes, to: path, for: scope) { [scope] result in
                scope.wake()
                wait.give(result)
            }
        }
    }

    /// The context of the same saga at another node, for its actions and mutations.
    ///
    ///     let detail = try await saga.reactor(Detail.self, at: "/detail")
    ///     try await detail.put(.show(id))
    ///
    /// The tree records the actions of that node as long as the context or a saga started through
    /// it exists. *Throws*: ``SagaError/gone(path:)`` if there is no such reactor.
    public func reactor<Other: Reactor>(
        _ type: Other.Type, at path: String
    ) async throws -> SagaContext<Other> {
        try await waiting { [scope] wait in
            host.find(type, at: path) { target in
                wait.give(target.map { $0.context(in: scope) })
            }
        }
    }

    // MARK: Waiting for time and other code

    /// Waits for `duration` on the tree's clock.
    public func sleep(for duration: Duration) async throws {
        try await pausing { try await runtime.clock.sleep(for: duration) }
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

    /// Runs a block as a separate task, and returns its result.
    ///
    /// Cancelling the saga cancels the block, and does not wait for it.
    public func async<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run { _ in try await body() }
    }
}
