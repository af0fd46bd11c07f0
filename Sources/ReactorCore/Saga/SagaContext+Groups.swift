import ReactorThreads

// MARK: - Several at once
extension SagaContext {
    /// A saga that is one of several.
    public typealias Member<Value> = @Sendable (SagaContext<R>) async throws -> Value

    /// Begins all members and waits for all of them: their results, in the order of the members.
    ///
    /// A member that fails cancels the others, and its error is thrown; so does one that is
    /// cancelled.
    public func all<Value: Sendable>(_ members: [Member<Value>]) async throws -> [Value] {
        let group = group()
        let handles = members.map { group.context.fork($0) }
        try await group.end()
        return try await pausing {
            var values: [Value] = []
            for handle in handles { values.append(try await handle.value) }
            return values
        }
    }

    /// Begins a member for each element and waits for all of them: their results, in the order of the
    /// elements.
    ///
    ///     let users = try await saga.all(ids) { saga, id in try await load(saga, user: id) }
    public func all<Element: Sendable, Value: Sendable>(
        _ elements: some Sequence<Element>,
        do body: @escaping @Sendable (SagaContext<R>, Element) async throws -> Value
    ) async throws -> [Value] {
        try await all(elements.map { element in member { try await body($0, element) } })
    }

    // because a closure in a literal of an array is not taken for a Sendable one
    private func member<Value>(_ body: @escaping Member<Value>) -> Member<Value> { body }

    /// Begins both members, whatever each of them returns, and waits for both.
    ///
    ///     let (user, items) = try await saga.all({ try await load($0, user: 7) }, loadItems)
    public func all<First: Sendable, Second: Sendable>(
        _ first: @escaping Member<First>, _ second: @escaping Member<Second>
    ) async throws -> (First, Second) {
        try await allOf(first, second)
    }

    /// Begins three members, whatever each of them returns, and waits for all of them.
    public func all<First: Sendable, Second: Sendable, Third: Sendable>(
        _ first: @escaping Member<First>, _ second: @escaping Member<Second>,
        _ third: @escaping Member<Third>
    ) async throws -> (First, Second, Third) {
        try await allOf(first, second, third)
    }

    /// Begins four members, whatever each of them returns, and waits for all of them; more of them
    /// begin by ``allOf(_:)``.
    public func all<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ first: @escaping Member<First>, _ second: @escaping Member<Second>,
        _ third: @escaping Member<Third>, _ fourth: @escaping Member<Fourth>
    ) async throws -> (First, Second, Third, Fourth) {
        try await allOf(first, second, third, fourth)
    }

    // because the compiler (6.3.1) takes a closure for a Sendable one where a pack wants that only
    // sometimes, and never among functions of one name, `all` stands beside this for up to four
    /// Begins any number of members, whatever each of them returns, and waits for all of them: their
    /// results, in the order of the members.
    ///
    ///     let (user, items, prices, stock, offers) = try await saga.allOf(
    ///         { @Sendable saga in try await load(saga, user: 7) }, loadItems, loadPrices, loadStock,
    ///         loadOffers)
    ///
    /// A member that fails cancels the others, and its error is thrown. One that is written in its
    /// place says that it is Sendable: `{ @Sendable saga in … }`.
    public func allOf<each Value: Sendable>(
        _ members: repeat @escaping @Sendable (SagaContext<R>) async throws -> each Value
    ) async throws -> (repeat each Value) {
        let group = group()
        let handles = (repeat group.context.fork(each members))
        try await group.end()
        return try await pausing { (repeat try await (each handles).value) }
    }

    /// Begins all members and waits for the first that returns or fails; the others are cancelled,
    /// and what they still put is dropped.
    ///
    /// *Throws*: the error of the first that ended, if that failed; ``SagaError/nobodyRaces`` where
    /// there is no member.
    public func first<Value: Sendable>(_ members: [Member<Value>]) async throws -> Value {
        guard !members.isEmpty else { throw SagaError.nobodyRaces }
        let group = group()
        defer {
            group.scope.cancel()
            group.scope.bodyEnded(nil)
        }
        return try await pausing {
            try await waiting { wait in
                group.scope.whenDecided { end in
                    if case .failed(let error) = end {
                        wait.give(.failure(error))
                    } else {
                        // because nobody is left in the race
                        wait.give(.failure(CancellationError()))
                    }
                }
                for member in members { group.race(member, wait) }
                group.scope.bodyEnded(nil)
            }
        }
    }

    /// Begins all members and waits for the first that returns or fails.
    public func first<Value: Sendable>(_ members: Member<Value>...) async throws -> Value {
        try await first(members)
    }

    /// Begins all members and waits for the first that returns or fails.
    public func race<Value: Sendable>(_ members: Member<Value>...) async throws -> Value {
        try await first(members)
    }

    private func group() -> SagaGroup<R> {
        let scope = scope.child(.joined)
        let ear = ear.copy()
        scope.adopt(ear)
        return SagaGroup(
            scope: scope, context: SagaContext(host: host, scope: scope, ear: ear), outside: self)
    }
}

/// Sagas that stand and fall together.
private struct SagaGroup<R: Reactor> {
    var scope: SagaScope
    /// What its members are forked from.
    var context: SagaContext<R>
    /// Who waits for it.
    var outside: SagaContext<R>

    /// Waits until all members have ended.
    func end() async throws {
        scope.bodyEnded(nil)
        let handle = SagaHandle<Void>(
            scope: scope, result: .init((), by: scope.room.lock))
        try await withTaskCancellationHandler {
            try await outside.join(handle)
        } onCancel: {
            scope.cancel()
        }
    }

    func race<Value: Sendable>(
        _ member: @escaping SagaContext<R>.Member<Value>, _ wait: SagaWait<Value>
    ) {
        let handle = context.fork(member)
        handle.scope.whenDecided { [result = handle.result, scope] end in
            guard case .completed = end, let value = result.withLock({ $0 }) else { return }
            wait.give(.success(value))
            scope.cancel()
        }
    }
}
