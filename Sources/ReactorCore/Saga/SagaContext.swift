/// What a saga sees of its reactor, and what it can do.
///
/// The first `take` of a saga sees what came since the saga last went on. Each later one goes on right
/// behind what the one before took: in a loop none is lost, whatever the saga waits for in between,
/// as long as at most ``CoreLimits/sagaLogMax`` actions and mutations come meanwhile; after more, the
/// take throws ``SagaError/missed(count:)``. What the saga puts itself is not there for it.
/// ``skipToNow()`` forgets what waits. A handler (``takeEvery(_:do:)`` and its siblings) is called for
/// each action and keeps none; a ``channel(of:capacity:)`` keeps as many as it is told to, and refuses
/// the action that finds no room.
///
/// *Owner*: the saga that was handed it; what it forks is handed its own.
public struct SagaContext<R: Reactor>: Sendable {
    let host: any SagaHost<R>
    let scope: SagaScope
    let ear: SagaEar<R>

    var room: SagaRoom { scope.room }

    /// The time by which the saga waits.
    public var clock: TreeClock { room.clock }

    /// The reactor's path.
    public var path: String { host.path }

    /// Runs `body` as one wait of the saga: what happens meanwhile is not remembered for it.
    func pausing<Value>(_ body: () async throws -> Value) async throws -> Value {
        try scope.pause()
        defer { scope.wake() }
        let value = try await body()
        try scope.check()
        return value
    }

    /// Waits for what `ask` sees to that it is given.
    func waiting<Value: Sendable>(
        _ type: Value.Type = Value.self, _ ask: (SagaWait<Value>) -> Void
    ) async throws -> Value {
        let wait = SagaWait<Value>(by: room.lock)
        ask(wait)
        let value = try await wait.value()
        try scope.check()
        return value
    }
}

// MARK: - Where the next take begins
extension SagaContext {
    /// Forgets what came and was not taken: the next take sees what comes from here on.
    public func skipToNow() { ear.wakeNow() }
}

// MARK: - Reading and writing the reactor
extension SagaContext {
    /// The state as it is when the saga goes on.
    public func select() async throws -> R.State { try await select { $0 } }

    /// A part of the state, as it is when the saga goes on.
    ///
    ///     let count = try await saga.select(\.count)
    ///
    /// What happens after that is there for the next take.
    public func select<Part: Sendable>(
        _ part: @escaping @Sendable (R.State) -> Part
    ) async throws -> Part {
        try scope.pause()
        return try await waiting { wait in
            host.perform { [host, scope] desk in
                guard let desk else {
                    wait.give(.failure(SagaError.gone(path: host.path)))
                    return
                }
                let value = part(desk.state())
                scope.wake()
                wait.give(.success(value))
            }
        }
    }

    /// Dispatches an action as a transaction of its own, and returns when it is committed.
    ///
    /// What it causes, its followers included, is there for the next take; the action itself is not.
    /// *Throws*: ``Rejection`` if it was refused.
    public func put(_ action: R.Action) async throws {
        try scope.pause()
        try await waiting(Void.self) { wait in
            host.perform { [host, scope, ear] desk in
                guard scope.isOpen else {
                    scope.room.noteDropped()
                    wait.give(.failure(CancellationError()))
                    return
                }
                guard let desk else {
                    wait.give(.failure(SagaError.gone(path: host.path)))
                    return
                }
                desk.put(action, for: ear) { result in
                    scope.wake()
                    wait.give(result)
                }
            }
        }
    }

    /// Dispatches an action to the reactor at `path`, and returns when it is committed.
    ///
    /// *Throws*: ``Rejection`` if it was refused, or nothing takes it there.
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

    /// What the same saga sees and can do at another node, of its actions and mutations too.
    ///
    ///     let detail = try await saga.reactor(Detail.self, at: "/detail")
    ///     try await detail.put(.show(id))
    ///
    /// It costs something for as long as somebody holds it, or what was begun by it.
    /// *Throws*: ``SagaError/gone(path:)`` if there is no such reactor there.
    public func reactor<Other: Reactor>(
        _ type: Other.Type, at path: String
    ) async throws -> SagaContext<Other> {
        try await waiting { [scope] wait in
            host.find(type, at: path) { place in
                wait.give(place.map { SagaContext<Other>(at: $0, in: scope) })
            }
        }
    }
}
