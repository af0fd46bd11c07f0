extension SagaTarget {
    /// The context of the saga of `scope` at this reactor, which is released with the last
    /// reference to the context.
    func context(in scope: SagaScope) -> SagaContext<R> {
        let position = SagaPosition(log)
        scope.adopt(position)
        return SagaContext(
            host: VisitingSagaHost(base: host, visit: SagaVisit(self, scope, position)),
            scope: scope, position: position)
    }
}

/// Holds the use of another reactor's broker, and the saga's position there.
private final class SagaVisit<R: Reactor>: Sendable {
    private let target: SagaTarget<R>
    private let scope: SagaScope
    private let position: SagaPosition<R>

    init(_ target: SagaTarget<R>, _ scope: SagaScope, _ position: SagaPosition<R>) {
        self.target = target
        self.scope = scope
        self.position = position
    }

    deinit {
        // Posted, since the last reference may be released inside the lock.
        target.host.perform { [scope, position] _ in scope.forget(position) }
        target.giveBack()
    }
}

/// Runs sagas at a reactor that is not their own.
private struct VisitingSagaHost<R: Reactor>: SagaHost {
    let base: any SagaHost<R>
    /// Held by everything that the saga starts here.
    let visit: SagaVisit<R>

    var runtime: SagaRuntime { base.runtime }
    var path: String { base.path }
    var isVisiting: Bool { true }

    func perform(_ job: @escaping @Sendable (SagaBroker<R>?) -> Void) {
        base.perform { [visit] broker in withExtendedLifetime(visit) { job(broker) } }
    }

    func adopt(_ scope: SagaScope, _ start: @escaping @Sendable () -> Void) {
        base.adopt(scope, start)
    }

    func put(
        _ action: WireEmbedded, to path: String, for scope: SagaScope, then: @escaping SagaPutEnd
    ) {
        base.put(action, to: path, for: scope, then: then)
    }

    func find<Other: Reactor>(
        _ type: Other.Type, at path: String, then: @escaping SagaTargetReceiver<Other>
    ) {
        base.find(type, at: path, then: then)
    }
}
