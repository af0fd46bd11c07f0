/// Another reactor that a saga has opened.
package struct SagaPlace<R: Reactor>: Sendable {
    let host: any SagaHost<R>
    let log: SagaLog<R>
    /// Called when the saga no longer needs it.
    let giveBack: @Sendable () -> Void

    package init(
        _ host: any SagaHost<R>, _ log: SagaLog<R>,
        giveBack: @escaping @Sendable () -> Void = {}
    ) {
        self.host = host
        self.log = log
        self.giveBack = giveBack
    }
}

extension SagaContext {
    /// Makes the context of the saga of `scope` at another reactor, released with its last
    /// reference.
    init(at place: SagaPlace<R>, in scope: SagaScope) {
        ear = SagaEar(place.log)
        scope.adopt(ear)
        host = VisitingSagaHost(base: place.host, visit: SagaVisit(place, scope, ear))
        self.scope = scope
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
