import ReactorThreads

/// Sagas that are cancelled together.
final class SagaGroup<R: Reactor> {
    let scope: SagaScope
    /// The saga that waits for the group.
    private let outside: SagaContext<R>
    private let wasReading: Bool
    private var positions: [SagaPosition<R>] = []

    init(_ scope: SagaScope, _ outside: SagaContext<R>) {
        self.scope = scope
        self.outside = outside
        wasReading = outside.position.hold()
    }

    /// Starts a member.
    func fork<Value: Sendable>(
        _ member: @escaping SagaContext<R>.Member<Value>
    ) -> SagaHandle<Value> { startMember(member).handle }

    private func startMember<Value: Sendable>(
        _ member: @escaping SagaContext<R>.Member<Value>
    ) -> (handle: SagaHandle<Value>, position: SagaPosition<R>) {
        let position = outside.position.twin(isReading: wasReading)
        let child = scope.child(.attached)
        child.adopt(position)
        positions.append(position)
        let context = SagaContext(host: outside.host, scope: scope, position: position)
        return (context.startChild(child, member, position), position)
    }

    /// Waits until all members have ended.
    func end() async throws {
        scope.bodyEnded(nil)
        let handle = SagaHandle<Void>(
            scope: scope, result: .init((), by: scope.runtime.lock))
        try await withTaskCancellationHandler {
            try await outside.join(handle)
        } onCancel: { [scope] in
            scope.cancel()
        }
    }

    func race<Value: Sendable>(
        _ member: @escaping SagaContext<R>.Member<Value>, _ wait: SagaWait<(Value, SagaPosition<R>)>
    ) {
        let (handle, position) = startMember(member)
        handle.scope.whenDecided { [result = handle.result, scope] end in
            guard case .completed = end, let value = result.withLock({ $0 }) else { return }
            wait.give(.success((value, position)))
            scope.cancel()
        }
    }

    /// Continues the outer saga after the actions that the members took.
    func release() { outside.position.release(wasReading, to: positions, besides: []) }

    /// Continues the outer saga after the actions that the winner took.
    func release(after winner: SagaPosition<R>?) {
        outside.position.release(
            wasReading, to: positions.filter { $0 === winner },
            besides: positions.filter { $0 !== winner })
    }
}
