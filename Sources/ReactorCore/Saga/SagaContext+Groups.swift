import ReactorThreads

// MARK: - Several sagas at once
extension SagaContext {
    /// One saga of a group.
    public typealias Member<Value> = @Sendable (SagaContext<R>) async throws -> Value

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
    // overloads. So this function has a name of its own, beside `all` for up to four members.
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
    /// *Throws*: the error of the member that ended first, if it failed; ``SagaError/nobodyRaces``
    /// for an empty list.
    public func first<Value: Sendable>(_ members: [Member<Value>]) async throws -> Value {
        guard !members.isEmpty else { throw SagaError.nobodyRaces }
        let group = group()
        defer {
            group.scope.cancel()
            group.scope.bodyEnded(nil)
        }
        var winner: SagaEar<R>?
        defer { group.release(after: winner) }
        return try await pausing {
            let (value, ear) = try await waiting((Value, SagaEar<R>).self) { wait in
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
            winner = ear
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
}

/// Sagas that are cancelled together.
private final class SagaGroup<R: Reactor> {
    let scope: SagaScope
    /// The saga that waits for the group.
    private let outside: SagaContext<R>
    private let wasReading: Bool
    private var ears: [SagaEar<R>] = []

    init(_ scope: SagaScope, _ outside: SagaContext<R>) {
        self.scope = scope
        self.outside = outside
        wasReading = outside.ear.hold()
    }

    /// Starts a member.
    func fork<Value: Sendable>(
        _ member: @escaping SagaContext<R>.Member<Value>
    ) -> SagaHandle<Value> { begin(member).handle }

    private func begin<Value: Sendable>(
        _ member: @escaping SagaContext<R>.Member<Value>
    ) -> (handle: SagaHandle<Value>, ear: SagaEar<R>) {
        let ear = outside.ear.twin(isReading: wasReading)
        let child = scope.child(.attached)
        child.adopt(ear)
        ears.append(ear)
        let context = SagaContext(host: outside.host, scope: scope, ear: ear)
        return (context.begin(child, member, ear), ear)
    }

    /// Waits until all members have ended.
    func end() async throws {
        scope.bodyEnded(nil)
        let handle = SagaHandle<Void>(
            scope: scope, result: .init((), by: scope.room.lock))
        try await withTaskCancellationHandler {
            try await outside.join(handle)
        } onCancel: { [scope] in
            scope.cancel()
        }
    }

    func race<Value: Sendable>(
        _ member: @escaping SagaContext<R>.Member<Value>, _ wait: SagaWait<(Value, SagaEar<R>)>
    ) {
        let (handle, ear) = begin(member)
        handle.scope.whenDecided { [result = handle.result, scope] end in
            guard case .completed = end, let value = result.withLock({ $0 }) else { return }
            wait.give(.success((value, ear)))
            scope.cancel()
        }
    }

    /// Continues the outer saga after the actions that the members took.
    func release() { outside.ear.release(wasReading, to: ears, besides: []) }

    /// Continues the outer saga after the actions that the winner took.
    func release(after winner: SagaEar<R>?) {
        outside.ear.release(
            wasReading, to: ears.filter { $0 === winner }, besides: ears.filter { $0 !== winner })
    }
}
