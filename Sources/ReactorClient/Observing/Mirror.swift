public import Observation
public import ReactorCore
public import ReactorThreads

/// A copy of a reactor's state in this process, kept up to date by the daemon.
///
///     let visits = try await client.mirror(Visits.self, at: "/visits")
///     print(visits.state.count, visits.count)
///
/// Reading is local: a lock and a copy, no I/O and no hop. All mirrors of a client move together,
/// from one revision to the next. A mirror survives the loss of its connection: it shows the last
/// state it knew, and ``phase`` says so, until it has caught up.
///
/// *Owner*: any thread. The client follows the node until the last reference to the mirror is gone.
@dynamicMemberLookup
public final class Mirror<R: Reactor>: Observable, Sendable {
    /// Path of the mirrored node.
    public let path: String
    @usableFromInline let replica: Guarded<Replica<R>>
    let phaseNow: Guarded<ClientPhase>
    let idNow = Guarded<ReactorID?>(nil)
    /// Tell that the state, a field of it, or how current it is, has changed.
    @usableFromInline let notices = MirrorNotices(R._trackedFields)
    @usableFromInline var changed: ChangeSignal { notices.changed }
    let shared: SharedState
    let sagas: MirrorSagas<R>
    /// Where actions go; absent in a client without a thread of its own.
    let port: ActionPort?
    let hold: NodeHold?

    init(
        _ replica: Replica<R>, at path: String, on shared: SharedState, _ port: ActionPort?,
        _ hold: NodeHold?
    ) {
        self.path = path
        self.shared = shared
        sagas = MirrorSagas(shared.sagas)
        self.port = port
        self.hold = hold
        // The client's thread changes it inside the lock, and every reader reads it there.
        self.replica = Guarded(Confined(replica).open(), by: shared.lock)
        phaseNow = Guarded(.connecting, by: shared.lock)
    }

    deinit { shared.release() }

    /// The state, as of ``revision``, with this client's own actions on top that it previews.
    @inlinable
    public var state: R.State {
        changed.access()
        return replica.withLock { $0.shown }
    }

    /// A field of the state. Its observers are woken when this field changes, where the state is a
    /// ``TrackedState``, and else at each change.
    @inlinable
    public subscript<Value>(dynamicMember field: KeyPath<R.State, Value>) -> Value {
        notices.access(field)
        return replica.withLock {
            $0.isOverlaid ? $0.shown[keyPath: field] : $0.state[keyPath: field]
        }
    }

    /// Which reactor is mirrored: equal for all mirrors of the same one, in any process. `nil` where
    /// the mirror follows the value: the daemon's types differ, or it shows more than the state.
    public var id: ReactorID? { idNow.withLock { $0 } }

    /// The revision that the state is of; the same for all mirrors of a client.
    public var revision: Revision {
        shared.moved.access()
        return shared.revision.withLock { $0 }
    }

    /// True while the state follows the daemon.
    public var isCurrent: Bool { phase == .live }

    /// How far the mirror is.
    public var phase: ClientPhase {
        changed.access()
        return phaseNow.withLock { $0 }
    }

    /// Waits until the state includes `revision`, which this or another process was given.
    ///
    /// *Throws*: ``ClientError/otherHistory(expected:actual:)`` if it never will.
    public func reached(_ revision: Revision) async throws(ClientError) {
        try port?.check()
        var isAsked = false
        while true {
            let version = shared.moved.version
            let (actual, phase) = phaseNow.withLock { phase in
                (shared.revision.whileLocked { $0 }, phase)
            }
            if case .failed(let error) = phase { throw error }
            if phase == .live, actual.epoch == revision.epoch,
                actual.sequence >= revision.sequence
            {
                return
            }
            if Task.isCancelled { throw .cancelled }
            if !isAsked {
                isAsked = true
                // An idle subscriber learns only now and then how far the daemon is, and is the last
                // to notice that the daemon is another one.
                try await port?.ping()
            } else if phase == .live, actual.epoch != revision.epoch {
                throw .otherHistory(expected: revision, actual: actual)
            } else {
                await shared.moved.change(after: version)
            }
        }
    }
}

extension Mirror: Hashable {
    public static func == (left: Mirror, right: Mirror) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: - Proof
extension Mirror {
    /// Has the daemon say what this mirror must hold, and compares; true if it holds that.
    ///
    ///     if try await !visits.verify() { log("a mirror had gone wrong, and was mended") }
    ///
    /// One that does not holds a mistake: memory that failed, or a `reduce` that does not do here
    /// what it does in the daemon. It starts again with a snapshot, and shows that when this returns
    /// false; ``ClientStatistics/resynchronisations`` counts it and ``news`` tells of it.
    ///
    /// *Throws*: ``ClientError/notComparable(path:)`` where the mirror follows the value: it runs no
    /// `reduce` there. *Cost*: both sides encode all of the node's state, on their loops.
    public func verify() async throws(ClientError) -> Bool {
        guard let port else { throw .notComparable(path: path) }
        return try await port.ask { [self] client, then in client.verify(self, then: then) }
    }
}

// MARK: - News
extension Mirror {
    /// What happens to this mirror's client, and answers no call: see ``Client/notices``.
    public var news: ClientNotices { ClientNotices(feed: shared.news) }
}
