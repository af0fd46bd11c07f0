import ReactorThreads

// MARK: - Several at once
extension SagaContext {
    /// A saga that is one of several.
    public typealias Member<Value> = @Sendable (SagaContext<R>) async throws -> Value

    /// Begins all members and waits for all of them: their results, in the order of the members.
    ///
    /// A member that fails cancels the others, and its error is thrown; so does one that is
    /// cancelled. The members take in place of this saga: its next take sees what none of them has taken,
    /// from the first that one of them left.
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
        defer { group.release() }
        let handles = (repeat group.fork(each members))
        try await group.end()
        return try await pausing { (repeat try await (each handles).value) }
    }

    /// Begins all members and waits for the first that returns or fails; the others are cancelled,
    /// and what they still put is dropped. The saga goes on behind what the winner took; what another
    /// has taken by then is there for its next take.
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
        var winner: SagaEar<R>?
        defer { group.release(after: winner) }
        return try await pausing {
            let (value, ear) = try await waiting((Value, SagaEar<R>).self) { wait in
                group.scope.whenDecided { end in
                    if case .failed(let error) = end {
                        wait.give(.failure(error))
                    } else {
                        // Nobody is left in the race.
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

    /// Begins all members and waits for the first that returns or fails.
    public func first<Value: Sendable>(_ members: Member<Value>...) async throws -> Value {
        try await first(members)
    }

    /// Begins all members and waits for the first that returns or fails.
    public func race<Value: Sendable>(_ members: Member<Value>...) async throws -> Value {
        try await first(members)
    }

    private func group() -> SagaGroup<R> { SagaGroup(scope.child(.joined), self) }
}

/// Sagas that stand and fall together.
private final class SagaGroup<R: Reactor> {
    let scope: SagaScope
    /// The saga that waits for it.
    private let outside: SagaContext<R>
    private let wasReading: Bool
    private var ears: [SagaEar<R>] = []

    init(_ scope: SagaScope, _ outside: SagaContext<R>) {
        self.scope = scope
        self.outside = outside
        wasReading = outside.ear.hold()
    }

    /// Begins a member.
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

    /// Lets the saga go on behind what the members took.
    func release() { outside.ear.release(wasReading, to: ears, besides: []) }

    /// Lets the saga go on behind what the winner took.
    func release(after winner: SagaEar<R>?) {
        outside.ear.release(
            wasReading, to: ears.filter { $0 === winner }, besides: ears.filter { $0 !== winner })
    }
}
