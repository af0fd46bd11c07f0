import ReactorThreads

// MARK: - Sagas of a saga
extension SagaContext {
    /// Starts a saga that is attached to this one: it is cancelled with this saga, which does not
    /// end before it. Its error ends this saga and all its forks.
    @discardableResult
    public func fork<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        startChild(scope.child(.attached), body, nil)
    }

    /// Starts a saga that outlives this one and ends with its reactor. Its error goes to the
    /// reactor's error hook.
    @discardableResult
    public func spawn<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        let child = SagaScope.top(in: runtime)
        let (context, handle) = prepare(child, Value.self)
        host.adopt(child) { [result = handle.result] in
            child.start {
                let value = try await body(context)
                result.withLock { $0 = value }
            }
        }
        return handle
    }

    /// Starts a saga and returns its result, or throws its error. It takes actions in place of this
    /// saga, which continues after them.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) async throws -> Value {
        let child = scope.child(.joined)
        let wasReading = position.hold()
        let childPosition = position.twin(isReading: wasReading)
        child.adopt(childPosition)
        defer { position.release(wasReading, to: [childPosition], besides: []) }
        let handle = startChild(child, body, childPosition)
        return try await withTaskCancellationHandler {
            try await join(handle)
        } onCancel: {
            handle.cancel()
        }
    }

    /// Waits for the result of a saga.
    ///
    /// *Throws*: its error; `CancellationError` if one of the two was cancelled.
    public func join<Value: Sendable>(_ handle: SagaHandle<Value>) async throws -> Value {
        try await pausing { try await handle.value }
    }

    /// Starts a top-level saga; `adopt` registers it with its owner.
    package static func run<Value: Sendable>(
        at broker: SagaBroker<R>, on host: any SagaHost<R>, adopt: (SagaScope) -> Void,
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        let scope = SagaScope.top(in: broker.log.runtime)
        let position = SagaPosition(broker.log)
        scope.adopt(position)
        adopt(scope)
        return SagaContext(host: host, scope: scope, position: position)
            .startChild(scope, body, position)
    }

    /// Starts `body` as `child`, which reads through `childPosition`, or from a copy of
    /// this saga's position.
    func startChild<Value: Sendable>(
        _ child: SagaScope, _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value,
        _ childPosition: SagaPosition<R>?
    ) -> SagaHandle<Value> {
        let (context, handle) = prepare(child, Value.self, childPosition)
        child.start { [result = handle.result] in
            let value = try await body(context)
            result.withLock { $0 = value }
        }
        return handle
    }

    private func prepare<Value: Sendable>(
        _ child: SagaScope, _ type: Value.Type, _ childPosition: SagaPosition<R>? = nil
    ) -> (SagaContext<R>, SagaHandle<Value>) {
        // The child sees all notes since its parent last resumed.
        let position = childPosition ?? position.copy()
        if childPosition == nil { child.adopt(position) }
        let result = Guarded<Value?>(nil, by: runtime.lock)
        return (
            SagaContext(host: host, scope: child, position: position),
            SagaHandle(scope: child, result: result)
        )
    }

    // MARK: Several sagas at once

    /// Starts all members and waits for them. Returns their results, in the order of the members.
    ///
    /// If a member fails or is cancelled, the others are cancelled and its error is thrown. The
    /// members take actions in place of this saga, whose next take sees the actions that none of
    /// them has taken, from the first one left over.
    public func all<Value: Sendable>(_ members: [Member<Value>]) async throws -> [Value] {
        let group = group()
        defer { group.release() }
        let handles = members.map { group.fork($0) }
        try await group.end()
        return try await pausing {
            var values: [Value] = []
            for handle in handles { values.append(try await handle.value) }
            return values
        }
    }

    /// Starts a member for each element and waits for them. Returns their results, in the order of
    /// the elements.
    ///
    ///     let users = try await saga.all(ids) { saga, id in try await load(saga, user: id) }
    public func all<Element: Sendable, Value: Sendable>(
        _ elements: some Sequence<Element>,
        do body: @escaping @Sendable (SagaContext<R>, Element) async throws -> Value
    ) async throws -> [Value] {
        try await all(elements.map { element in member { try await body($0, element) } })
    }

    // Gives the closure its type: in an array literal, the compiler does not infer it as Sendable.
    private func member<Value>(_ body: @escaping Member<Value>) -> Member<Value> { body }

    /// Starts two members, whose results may have different types, and waits for both.
    ///
    ///     let (user, items) = try await saga.all({ try await load($0, user: 7) }, loadItems)
    public func all<First: Sendable, Second: Sendable>(
        _ first: @escaping Member<First>, _ second: @escaping Member<Second>
    ) async throws -> (First, Second) {
        try await allOf(first, second)
    }

    /// Starts three members, whose results may have different types, and waits for them.
    public func all<First: Sendable, Second: Sendable, Third: Sendable>(
        _ first: @escaping Member<First>, _ second: @escaping Member<Second>,
        _ third: @escaping Member<Third>
    ) async throws -> (First, Second, Third) {
        try await allOf(first, second, third)
    }

    /// Starts four members, whose results may have different types, and waits for them; for more,
    /// use ``allOf(_:)``.
    public func all<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ first: @escaping Member<First>, _ second: @escaping Member<Second>,
        _ third: @escaping Member<Third>, _ fourth: @escaping Member<Fourth>
    ) async throws -> (First, Second, Third, Fourth) {
        try await allOf(first, second, third, fourth)
    }

    // The compiler (6.3.1) infers Sendable closures for a pack only sometimes, and never among
    // overloads. So this function has its own name, beside `all` for up to four members.
    /// Starts any number of members, whose results may have different types, and waits for them.
    /// Returns their results, in the order of the members.
    ///
    ///     let (user, items, prices, stock, offers) = try await saga.allOf(
    ///         { @Sendable saga in try await load(saga, user: 7) }, loadItems, loadPrices, loadStock,
    ///         loadOffers)
    ///
    /// If a member fails, the others are cancelled and its error is thrown. Mark a closure literal
    /// as Sendable: `{ @Sendable saga in … }`.
    public func allOf<each Value: Sendable>(
        _ members: repeat @escaping @Sendable (SagaContext<R>) async throws -> each Value
    ) async throws -> (repeat each Value) {
        let group = group()
        defer { group.release() }
        let handles = (repeat group.fork(each members))
        try await group.end()
        return try await pausing { (repeat try await (each handles).value) }
    }

    /// Starts all members and waits for the first that returns or fails; then cancels the others
    /// and drops their later dispatches. The saga continues after the actions that the winner took;
    /// actions that the others have taken are there for its next take.
    ///
    /// *Throws*: the error of the member that ended first, if it failed; ``SagaError/noMembers``
    /// for an empty list.
    public func first<Value: Sendable>(_ members: [Member<Value>]) async throws -> Value {
        guard !members.isEmpty else { throw SagaError.noMembers }
        let group = group()
        defer {
            group.scope.cancel()
            group.scope.bodyEnded(nil)
        }
        var winner: SagaPosition<R>?
        defer { group.release(after: winner) }
        return try await pausing {
            let (value, position) = try await waiting((Value, SagaPosition<R>).self) { wait in
                group.scope.whenDecided { end in
                    if case .failed(let error) = end {
                        wait.give(.failure(error))
                    } else {
                        // The last member was cancelled.
                        wait.give(.failure(CancellationError()))
                    }
                }
                for member in members { group.race(member, wait) }
                group.scope.bodyEnded(nil)
            }
            winner = position
            return value
        }
    }

    /// Starts all members and waits for the first that returns or fails.
    public func first<Value: Sendable>(_ members: Member<Value>...) async throws -> Value {
        try await first(members)
    }

    /// Starts all members and waits for the first that returns or fails.
    public func race<Value: Sendable>(_ members: Member<Value>...) async throws -> Value {
        try await first(members)
    }

    private func group() -> SagaGroup<R> { SagaGroup(scope.child(.joined), self) }

    // MARK: Performing

    /// Runs `effect` as part of this saga.
    public func perform<Output>(_ effect: some SagaEffect<R, Output>) async throws -> Output {
        try await effect.run(in: self)
    }

    /// Runs all effects at once: see ``all(_:)``.
    public func all<Output>(
        _ effects: [AnySagaEffect<R, Output>]
    ) async throws -> [Output] {
        try await all(effects.map(\.member))
    }

    /// Runs effects at once, until the first ends: see ``first(_:)``.
    public func first<Output>(_ effects: [AnySagaEffect<R, Output>]) async throws -> Output {
        try await first(effects.map(\.member))
    }
}
