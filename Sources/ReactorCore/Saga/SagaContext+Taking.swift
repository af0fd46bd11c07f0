// MARK: - Sources
extension SagaContext {
    /// The reactor's committed actions.
    public var actions: SagaSource<R, R.Action> {
        SagaSource(
            saga: self,
            read: { note in if case .action(let action) = note { action } else { nil } },
            asAction: { $0 })
    }

    /// The reactor's committed mutations, including those of effects and, over a mirror, of other
    /// clients' actions.
    public var mutations: SagaSource<R, R.Mutation> {
        SagaSource(
            saga: self,
            read: { note in if case .mutation(let mutation) = note { mutation } else { nil } },
            asAction: nil)
    }

    // MARK: Taking actions

    /// Takes the next action for which `match` returns a value, and returns that value.
    ///
    ///     let text = try await saga.take { if case .search(let text) = $0 { text } else { nil } }
    public func take<Payload: Sendable>(
        _ match: @escaping @Sendable (R.Action) -> Payload?
    ) async throws -> Payload {
        try await actions.take(match)
    }

    /// Takes the next action for which `match` returns a value; `nil` if none came within
    /// `timeout`.
    public func take<Payload: Sendable>(
        timeout: Duration, _ match: @escaping @Sendable (R.Action) -> Payload?
    ) async throws -> Payload? {
        try await actions.take(timeout: timeout, match)
    }

    /// Takes the next action for which `isWanted` is true.
    public func take(
        where isWanted: @escaping @Sendable (R.Action) -> Bool
    ) async throws -> R.Action {
        try await actions.take(where: isWanted)
    }

    /// Takes the next action for which `isWanted` is true; `nil` if none came within `timeout`.
    public func take(
        timeout: Duration, where isWanted: @escaping @Sendable (R.Action) -> Bool
    ) async throws -> R.Action? {
        try await actions.take(timeout: timeout, where: isWanted)
    }

    /// Takes the next action.
    public func take() async throws -> R.Action { try await actions.take() }

    /// Takes the next mutation for which `match` returns a value, and returns that value.
    public func takeMutation<Payload: Sendable>(
        _ match: @escaping @Sendable (R.Mutation) -> Payload?
    ) async throws -> Payload {
        try await mutations.take(match)
    }

    /// Opens a channel of actions: see ``SagaSource/channel(of:capacity:)``.
    public func channel<Payload: Sendable>(
        of match: @escaping @Sendable (R.Action) -> Payload?, capacity: Int
    ) async throws -> SagaChannel<Payload> {
        try await actions.channel(of: match, capacity: capacity)
    }

    // MARK: Taking from a channel

    /// Takes the next element of a channel; `nil` if it is closed and empty.
    public func take<Element: Sendable>(
        from channel: SagaChannel<Element>
    ) async throws -> Element? {
        try await pausing {
            try await waiting { channel.take($0) }
        }
    }

    /// Takes the next element of a channel; `nil` if it is closed, or none came within `timeout`.
    public func take<Element: Sendable>(
        from channel: SagaChannel<Element>, timeout: Duration
    ) async throws -> Element? {
        try await pausing {
            let wait = SagaWait<Element?>(by: runtime.lock)
            channel.take(wait)
            return try await wait.value(within: timeout, in: runtime) { wait.give(.success(nil)) }
        }
    }

    // MARK: Handling actions

    /// The function that runs for an action.
    public typealias Handler<Payload> = @Sendable (SagaContext, Payload) async throws -> Void

    /// Runs `body` for every matching action, each as a separate saga: see
    /// ``SagaSource/takeEvery(_:do:)``.
    @discardableResult
    public func takeEvery<Payload: Sendable>(
        _ match: @escaping @Sendable (R.Action) -> Payload?, do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        actions.takeEvery(match, do: body)
    }

    /// Runs `body` for every action for which `isWanted` is true.
    @discardableResult
    public func takeEvery(
        where isWanted: @escaping @Sendable (R.Action) -> Bool = { _ in true },
        do body: @escaping Handler<R.Action>
    ) -> SagaHandle<Void> {
        actions.takeEvery(where: isWanted, do: body)
    }

    /// Runs `body` for a matching action, and ignores others while it runs.
    @discardableResult
    public func takeLeading<Payload: Sendable>(
        _ match: @escaping @Sendable (R.Action) -> Payload?, do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        actions.takeLeading(match, do: body)
    }

    /// Runs `body` for an action for which `isWanted` is true, and ignores others while it runs.
    @discardableResult
    public func takeLeading(
        where isWanted: @escaping @Sendable (R.Action) -> Bool = { _ in true },
        do body: @escaping Handler<R.Action>
    ) -> SagaHandle<Void> {
        actions.takeLeading(where: isWanted, do: body)
    }

    /// Runs `body` for every matching action, and cancels it at the next.
    @discardableResult
    public func takeLatest<Payload: Sendable>(
        _ match: @escaping @Sendable (R.Action) -> Payload?, do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        actions.takeLatest(match, do: body)
    }

    /// Runs `body` for every action for which `isWanted` is true, and cancels it at the next.
    @discardableResult
    public func takeLatest(
        where isWanted: @escaping @Sendable (R.Action) -> Bool = { _ in true },
        do body: @escaping Handler<R.Action>
    ) -> SagaHandle<Void> {
        actions.takeLatest(where: isWanted, do: body)
    }

    /// Runs `body` with the last matching action, after `quiet` has passed without another.
    @discardableResult
    public func debounce<Payload: Sendable>(
        _ quiet: Duration, _ match: @escaping @Sendable (R.Action) -> Payload?,
        do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        actions.debounce(quiet, match, do: body)
    }

    /// Runs `body` with the last action for which `isWanted` is true, after `quiet` has passed
    /// without another.
    @discardableResult
    public func debounce(
        _ quiet: Duration, where isWanted: @escaping @Sendable (R.Action) -> Bool = { _ in true },
        do body: @escaping Handler<R.Action>
    ) -> SagaHandle<Void> {
        actions.debounce(quiet, where: isWanted, do: body)
    }

    /// Runs `body` for a matching action, and ignores others within `window` of it.
    @discardableResult
    public func throttle<Payload: Sendable>(
        _ window: Duration, _ match: @escaping @Sendable (R.Action) -> Payload?,
        do body: @escaping Handler<Payload>
    ) -> SagaHandle<Void> {
        actions.throttle(window, match, do: body)
    }

    /// Runs `body` for an action for which `isWanted` is true, and ignores others within `window`
    /// of it.
    @discardableResult
    public func throttle(
        _ window: Duration, where isWanted: @escaping @Sendable (R.Action) -> Bool = { _ in true },
        do body: @escaping Handler<R.Action>
    ) -> SagaHandle<Void> {
        actions.throttle(window, where: isWanted, do: body)
    }
}

// MARK: - Taking by type
extension SagaContext where R.Action == ErasedAction {
    /// Takes the next action of type `type`.
    public func take<Action: WireCodable & Sendable>(_ type: Action.Type) async throws -> Action {
        try await take { $0.as(type) }
    }

    /// Takes the next action of type `type`; `nil` if none came within `timeout`.
    public func take<Action: WireCodable & Sendable>(
        _ type: Action.Type, timeout: Duration
    ) async throws -> Action? {
        try await take(timeout: timeout) { $0.as(type) }
    }

    /// Runs `body` for every action of type `type`: see ``SagaSource/takeEvery(_:do:)``.
    @discardableResult
    public func takeEvery<Action: WireCodable & Sendable>(
        _ type: Action.Type, do body: @escaping Handler<Action>
    ) -> SagaHandle<Void> {
        takeEvery({ $0.as(type) }, do: body)
    }

    /// Runs `body` for every action of type `type`, and cancels it at the next.
    @discardableResult
    public func takeLatest<Action: WireCodable & Sendable>(
        _ type: Action.Type, do body: @escaping Handler<Action>
    ) -> SagaHandle<Void> {
        takeLatest({ $0.as(type) }, do: body)
    }

    /// Runs `body` for an action of type `type`, and ignores others while it runs.
    @discardableResult
    public func takeLeading<Action: WireCodable & Sendable>(
        _ type: Action.Type, do body: @escaping Handler<Action>
    ) -> SagaHandle<Void> {
        takeLeading({ $0.as(type) }, do: body)
    }

    /// Runs `body` with the last action of type `type`, after `quiet` has passed without another.
    @discardableResult
    public func debounce<Action: WireCodable & Sendable>(
        _ quiet: Duration, _ type: Action.Type, do body: @escaping Handler<Action>
    ) -> SagaHandle<Void> {
        debounce(quiet, { $0.as(type) }, do: body)
    }

    /// Runs `body` for an action of type `type`, and ignores others within `window` of it.
    @discardableResult
    public func throttle<Action: WireCodable & Sendable>(
        _ window: Duration, _ type: Action.Type, do body: @escaping Handler<Action>
    ) -> SagaHandle<Void> {
        throttle(window, { $0.as(type) }, do: body)
    }

    /// Dispatches an action of any type.
    public func put(_ action: some WireCodable & Sendable) async throws {
        try await put(ErasedAction(action))
    }
}
