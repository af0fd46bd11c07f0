/// Connects the sagas of one reactor to it: passes them the reactor's actions and mutations, and
/// dispatches their actions.
///
/// *Place*: a tree has one for each node with sagas, a client one for each mirror with sagas.
/// *Owner*: the isolation of the tree, or the thread that serves the mirror's sagas.
package final class SagaBroker<R: Reactor>: NodeFollower {
    package let log: SagaLog<R>
    let path: String
    let state: () -> R.State
    private let dispatch: Dispatch
    private var listeners = SagaListeners<R>()
    /// Number of admitted actions that have not been passed to the sagas.
    private(set) var admittedCount = 0
    /// Number of the last admitted action.
    private var lastAdmission: UInt64 = 0
    /// Number of listeners.
    var listenerCount: Int { listeners.count }
    /// Owns the tap at the node.
    private var token: StoreToken?
    /// Number of sagas that use this object.
    private var userCount = 0

    /// Dispatches an action. Once it is committed, the callback receives its result and the range
    /// of its own log notes.
    package typealias Dispatch = (
        R.Action, @escaping @Sendable (Result<Void, any Error>, Range<UInt64>) -> Void
    ) -> Void

    /// Makes a broker; `state` reads the reactor's state.
    package init(
        _ log: SagaLog<R>, path: String, state: @escaping () -> R.State,
        dispatch: @escaping Dispatch
    ) {
        self.log = log
        self.path = path
        self.state = state
        self.dispatch = dispatch
    }

    /// Keeps the token of the tap at the node.
    func connect(_ token: StoreToken) { self.token = token }

    /// Removes the tap from the node.
    func disconnect() { token = nil }

    /// Adds a user.
    func retain() {
        userCount += 1
        assert(invariants())
    }

    /// Whether a saga uses it.
    var isUsed: Bool { userCount > 0 }

    /// Whether the node passes its actions and mutations to it.
    var isConnected: Bool { token != nil }

    /// Removes a user. Returns whether it was the last.
    func release() -> Bool {
        userCount -= 1
        assert(invariants(), "\(path): a broker is released more often than retained")
        return userCount == 0
    }

    /// Dispatches an action for the saga of `position`, which does not see the
    /// action's own notes.
    func put(_ action: R.Action, for position: SagaPosition<R>, then: @escaping SagaPutEnd) {
        dispatch(action) { result, notes in
            position.skip(notes)
            then(result)
        }
    }

    /// Passes a note to all listeners; `admission` is the number of an admitted action.
    package func deliver(_ note: SagaNote<R>, admittedAs admission: UInt64? = nil) {
        let number = log.append(note)
        if admission != nil { admittedCount -= 1 }
        assert(invariants())
        // A listener that is removed during the loop is still called, and ignores the call.
        let all = listeners.all
        for index in all.indices {
            guard let listener = all[index] else { continue }
            let isAdmitted = admission.map { $0 > listener.since } ?? false
            if !listener.hear(number, note, isAdmitted) { listeners.remove(listener.id) }
        }
    }

    /// Passes `listener` the notes from `cursor` on, except those in `skipped`, and all later
    /// notes.
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
        listener.setSince(lastAdmission)
        listeners.add(listener)
    }

    /// Users and admitted actions are never removed twice, and each admitted action has a number.
    func invariants() -> Bool {
        userCount >= 0 && admittedCount >= 0 && UInt64(admittedCount) <= lastAdmission
    }

    /// Removes the listener with this number.
    func remove(_ id: UInt64) { listeners.remove(id) }

    /// Ends all listeners: the reactor is gone.
    package func close() {
        for case let listener? in listeners.all {
            listener.lose(.gone(path: path))
            listeners.remove(listener.id)
        }
    }
}

/// Receives the result of an action that a saga dispatched.
package typealias SagaPutEnd = @Sendable (Result<Void, any Error>) -> Void

// MARK: - Admitting actions
extension SagaBroker {
    /// Asks the listeners whether an action may be decided. Returns its admission number.
    ///
    /// *Throws*: ``Rejection`` if a channel for the action is full, or no saga can start for it.
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
        assert(invariants())
        return lastAdmission
    }

    /// Withdraws an admitted action that was refused.
    package func withdraw(_ action: R.Action, admittedAs admission: UInt64) {
        admittedCount -= 1
        assert(invariants())
        for listener in listeners.admitting where admission > listener.since {
            listener.withdraw?(action)
        }
    }

    /// The tap that the tree calls at the node.
    var tap: NodeTap<R> {
        var tap = NodeTap<R>(
            action: { [self] action, _ in
                // A tree commits its actions in the order of their admission.
                deliver(
                    .action(action),
                    admittedAs: lastAdmission &- UInt64(admittedCount) &+ 1)
            },
            mutation: { [self] mutation, _ in deliver(.mutation(mutation)) })
        tap.admit = { [self] (action) throws(Rejection) in _ = try admit(action) }
        tap.withdraw = { [self] action in withdrawLast(action) }
        return tap
    }

    // A tree withdraws the last action first.
    private func withdrawLast(_ action: R.Action) {
        withdraw(action, admittedAs: lastAdmission)
        lastAdmission &-= 1
        for listener in listeners.admitting {
            listener.setSince(min(listener.since, lastAdmission))
        }
    }
}

/// A listener to the actions and mutations of a reactor.
final class SagaListener<R: Reactor> {
    let id: UInt64
    /// Receives a note with its number, and whether its action was admitted by this listener.
    /// Returns whether it wants further notes.
    let hear: (UInt64, SagaNote<R>, Bool) -> Bool
    /// Called when no further notes will come.
    let lose: (SagaError) -> Void
    /// Called before an action is decided; the number counts admitted actions without a note.
    var admit: ((R.Action, Int) throws(Rejection) -> Void)?
    /// Called if an admitted action is refused.
    var withdraw: ((R.Action) -> Void)?
    /// Number of the last action that was admitted before this listener was added.
    private(set) var since: UInt64 = 0

    init(
        _ id: UInt64, hear: @escaping (UInt64, SagaNote<R>, Bool) -> Bool,
        lose: @escaping (SagaError) -> Void
    ) {
        self.id = id
        self.hear = hear
        self.lose = lose
    }

    /// Records the number of the last action that was admitted before it listens.
    func setSince(_ admission: UInt64) { since = admission }
}

/// The listeners of one broker, in the order of their addition.
private struct SagaListeners<R: Reactor> {
    /// The listeners, with gaps in place of removed ones.
    private(set) var all: [SagaListener<R>?] = []
    private var places: [UInt64: Int] = [:]
    /// The listeners with an `admit` function.
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
