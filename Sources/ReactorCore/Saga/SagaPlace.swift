extension SagaPlace {
    /// The context of the saga of `scope` at this reactor, which is released with the last
    /// reference to the context.
    func context(in scope: SagaScope) -> SagaContext<R> {
        let ear = SagaEar(log)
        scope.adopt(ear)
        return SagaContext(
            host: VisitingSagaHost(base: host, visit: SagaVisit(self, scope, ear)), scope: scope,
            ear: ear)
    }
}

/// Holds the use of another reactor's desk, and the saga's position there.
private final class SagaVisit<R: Reactor>: Sendable {
    private let place: SagaPlace<R>
    private let scope: SagaScope
    private let ear: SagaEar<R>

    init(_ place: SagaPlace<R>, _ scope: SagaScope, _ ear: SagaEar<R>) {
        self.place = place
        self.scope = scope
        self.ear = ear
    }

    deinit {
        // Posted, since the last reference may be released inside the lock.
        place.host.perform { [scope, ear] _ in scope.forget(ear) }
        place.giveBack()
    }
}

/// Runs sagas at a reactor that is not their own.
private struct VisitingSagaHost<R: Reactor>: SagaHost {
    let base: any SagaHost<R>
    /// Held by everything that the saga starts here.
    let visit: SagaVisit<R>

    var room: SagaRoom { base.room }
    var path: String { base.path }
    var isVisiting: Bool { true }

    func perform(_ job: @escaping @Sendable (SagaDesk<R>?) -> Void) {
        base.perform { [visit] desk in withExtendedLifetime(visit) { job(desk) } }
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
        _ type: Other.Type, at path: String, then: @escaping SagaPlaceEnd<Other>
    ) {
        base.find(type, at: path, then: then)
    }
}
