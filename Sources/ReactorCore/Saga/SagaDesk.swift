/// Where the sagas of one reactor hear of what it does, and say what they want of it.
///
/// *Place*: a tree has one at each node with sagas, a client one at each mirror with sagas.
/// *Owner*: the isolation of the tree, or the one thread at which a mirror's sagas are served.
package final class SagaDesk<R: Reactor> {
    package let log: SagaLog<R>
    let path: String
    let state: () -> R.State
    private let dispatch: Dispatch
    private var listeners = SagaListeners<R>()
    /// Actions that were let in and that sagas have not been told of.
    private(set) var admittedCount = 0
    /// Number of the action that was let in last.
    private var lastAdmission: UInt64 = 0
    /// How many listen.
    var listenerCount: Int { listeners.count }
    /// Keeps the tap.
    var token: StoreToken?
    /// How many sagas need the desk.
    var users = 0

    /// Dispatches an action, and says once it is committed what became of it and which notes of the
    /// log tell of it.
    package typealias Dispatch = (
        R.Action, @escaping @Sendable (Result<Void, any Error>, Range<UInt64>) -> Void
    ) -> Void

    /// Makes a desk; `state` reads the reactor's state.
    package init(
        _ log: SagaLog<R>, path: String, state: @escaping () -> R.State,
        dispatch: @escaping Dispatch
    ) {
        self.log = log
        self.path = path
        self.state = state
        self.dispatch = dispatch
    }

    /// Begins a saga at the top; `adopt` lists it with what ends it.
    package func run<Value: Sendable>(
        on host: any SagaHost<R>, adopt: (SagaScope) -> Void,
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        let scope = SagaScope.top(in: log.room)
        let ear = SagaEar(log)
        scope.adopt(ear)
        adopt(scope)
        return SagaContext(host: host, scope: scope, ear: ear).begin(scope, body, ear)
    }

    /// Dispatches an action for a saga that hears by `ear`; the action is no news to it.
    func put(_ action: R.Action, for ear: SagaEar<R>, then: @escaping SagaPutEnd) {
        dispatch(action) { result, notes in
            ear.skip(notes)
            then(result)
        }
    }

    /// Tells all who listen; `admission` is the number under which an action was let in, if it was.
    package func tell(_ note: SagaNote<R>, admittedAs admission: UInt64? = nil) {
        let number = log.append(note)
        if admission != nil { admittedCount -= 1 }
        // because one that goes meanwhile is told all the same, and knows that it is gone
        let all = listeners.all
        for index in all.indices {
            guard let listener = all[index] else { continue }
            let isAdmitted = admission.map { $0 > listener.since } ?? false
            if !listener.hear(number, note, isAdmitted) { listeners.remove(listener.id) }
        }
    }

    /// Lets `listener` hear what the log holds from note `cursor` on, but for those to skip, and all that
    /// comes.
    ///
    /// *Throws*: ``SagaError/missed(count:)``.
    func listen(
        _ listener: SagaListener<R>, from cursor: UInt64?, except skipped: [Range<UInt64>] = []
    ) throws(SagaError) {
        if let cursor {
            let (notes, missed) = log.notes(from: cursor)
            if missed > 0 { throw .missed(count: missed) }
            for (number, note) in zip(cursor..., notes)
            where !skipped.contains(where: { $0.contains(number) }) {
                if !listener.hear(number, note, false) { return }
            }
        }
        listener.since = lastAdmission
        listeners.add(listener)
    }

    /// Forgets the listener with this number.
    func remove(_ id: UInt64) { listeners.remove(id) }

    /// There will be nothing more to hear.
    package func close() {
        for case let listener? in listeners.all {
            listener.lose(.gone(path: path))
            listeners.remove(listener.id)
        }
    }
}

/// Takes what became of an action that a saga put.
package typealias SagaPutEnd = @Sendable (Result<Void, any Error>) -> Void

// MARK: - Letting actions in
extension SagaDesk {
    /// Asks whether an action may be decided, and numbers it if so.
    ///
    /// *Throws*: ``Rejection`` where a channel that wants it is full, or no saga can begin for it.
    package func admit(_ action: R.Action) throws(Rejection) -> UInt64 {
        var admitted: [SagaListener<R>] = []
        for listener in listeners.admitting {
            do throws(Rejection) {
                try listener.admit?(action, admittedCount)
                admitted.append(listener)
            } catch {
                for earlier in admitted { earlier.withdraw?(action) }
                throw error
            }
        }
        admittedCount += 1
        lastAdmission &+= 1
        return lastAdmission
    }

    /// An action that was let in came to nothing.
    package func withdraw(_ action: R.Action, admittedAs admission: UInt64) {
        admittedCount -= 1
        for listener in listeners.admitting where admission > listener.since {
            listener.withdraw?(action)
        }
    }

    /// What the tree tells of its node.
    var tap: NodeTap<R> {
        var tap = NodeTap<R>(
            action: { [self] action, _ in
                // because a tree commits its actions in the order in which they were let in
                tell(
                    .action(action),
                    admittedAs: lastAdmission &- UInt64(admittedCount) &+ 1)
            },
            mutation: { [self] mutation, _ in tell(.mutation(mutation)) })
        tap.admit = { [self] (action) throws(Rejection) in _ = try admit(action) }
        tap.withdraw = { [self] action in withdrawLast(action) }
        return tap
    }

    // because a tree takes back the last first
    private func withdrawLast(_ action: R.Action) {
        withdraw(action, admittedAs: lastAdmission)
        lastAdmission &-= 1
        for listener in listeners.admitting { listener.since = min(listener.since, lastAdmission) }
    }
}

/// Somebody who wants to hear of what a reactor does.
final class SagaListener<R: Reactor> {
    let id: UInt64
    /// Hears a note, and says whether it wants another; last, whether it was asked about it before.
    let hear: (UInt64, SagaNote<R>, Bool) -> Bool
    /// Is told that there will be none.
    let lose: (SagaError) -> Void
    /// Is asked before an action is decided; as many were let in before and are not told of.
    var admit: ((R.Action, Int) throws(Rejection) -> Void)?
    /// Is told that an action that was let in came to nothing.
    var withdraw: ((R.Action) -> Void)?
    /// Number of the last action that was let in before it was asked about any.
    var since: UInt64 = 0

    init(
        _ id: UInt64, hear: @escaping (UInt64, SagaNote<R>, Bool) -> Bool,
        lose: @escaping (SagaError) -> Void
    ) {
        self.id = id
        self.hear = hear
        self.lose = lose
    }
}

/// The listeners of one desk, in the order in which they came.
private struct SagaListeners<R: Reactor> {
    /// The listeners, and gaps where some were.
    private(set) var all: [SagaListener<R>?] = []
    private var places: [UInt64: Int] = [:]
    /// Those that are asked before an action is decided.
    private(set) var admitting: [SagaListener<R>] = []

    var count: Int { places.count }

    mutating func add(_ listener: SagaListener<R>) {
        places[listener.id] = all.count
        all.append(listener)
        if listener.admit != nil { admitting.append(listener) }
    }

    mutating func remove(_ id: UInt64) {
        guard let place = places.removeValue(forKey: id) else { return }
        if all[place]?.admit != nil { admitting.removeAll { $0.id == id } }
        all[place] = nil
        if places.count < all.count / 2 { compact() }
    }

    private mutating func compact() {
        all = all.filter { $0 != nil }
        for (place, listener) in all.enumerated() {
            if let listener { places[listener.id] = place }
        }
    }
}
