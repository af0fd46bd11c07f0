import ReactorThreads

/// Sagas that are cancelled together.
final class SagaGroup<R: Reactor> {
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
