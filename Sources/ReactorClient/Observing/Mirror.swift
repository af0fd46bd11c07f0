public import Observation
public import ReactorCore
public import ReactorThreads

/// A copy of a reactor's state in this process, kept up to date by the daemon.
///
///     let visits = try await client.mirror(Visits.self, at: "/visits")
///     print(visits.state.count, visits.count)
///
/// Reading is local: a lock and a copy, no I/O and no change of thread. All mirrors of a client
/// advance together, from one revision to the next. A mirror survives the loss of its connection:
/// until it has caught up, it shows the last known state, and ``phase`` is not `live`.
///
/// *Owner*: any thread. The client follows the node until the last reference to the mirror is
/// released.
@dynamicMemberLookup
public final class Mirror<R: Reactor>: Observable, Sendable {
    /// Path of the mirrored node.
    public let path: String
    @usableFromInline let replica: Guarded<Replica<R>>
    let phaseNow: Guarded<ClientPhase>
    let idNow = Guarded<ReactorID?>(nil)
    /// The signals of the state, of each field, and of the phase.
    @usableFromInline let notices = MirrorNotices(R._trackedFields)
    @usableFromInline var changed: ChangeSignal { notices.changed }
    let shared: SharedState
    let sagas: MirrorSagas<R>
    /// The port that actions go to; absent in a client without its own thread.
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
        // The client's thread changes it inside the lock, and every reader reads it inside the
        // lock.
        self.replica = Guarded(Confined(replica).open(), by: shared.lock)
        phaseNow = Guarded(.connecting, by: shared.lock)
    }

    deinit { shared.release() }

    /// The state, as of ``revision``, with the previews of this client's own actions applied.
    @inlinable
    public var state: R.State {
        changed.access()
        return replica.withLock { $0.shown }
    }

    /// A field of the state. If the state is a ``TrackedState``, a change of this field wakes its
    /// observers; otherwise every change of the state does.
    @inlinable
    public subscript<Value>(dynamicMember field: KeyPath<R.State, Value>) -> Value {
        notices.access(field)
        return replica.withLock {
            $0.isOverlaid ? $0.shown[keyPath: field] : $0.state[keyPath: field]
        }
    }

    /// The identity of the mirrored reactor: equal for all mirrors of the same one, in any process.
    /// `nil` where the mirror follows the value: the daemon's types differ, or its value has more
    /// than the state.
    public var id: ReactorID? { idNow.withLock { $0 } }

    /// The revision of the state; the same for all mirrors of a client.
    public var revision: Revision {
        shared.moved.access()
        return shared.revision.withLock { $0 }
    }

    /// True while the state follows the daemon, whether or not the types differ.
    public var isCurrent: Bool { phase.isCurrent }

    /// The state of the mirror's connection, how the daemon's type of the state differs, or the
    /// error that ended the mirror.
    public var phase: ClientPhase {
        changed.access()
        return phaseNow.withLock { $0 }
    }

    /// Waits until the state includes `revision`, which the daemon gave to this or another process.
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
            if phase.isCurrent, actual.epoch == revision.epoch,
                actual.sequence >= revision.sequence
            {
                return
            }
            if Task.isCancelled { throw .cancelled }
            if !isAsked {
                isAsked = true
                // The daemon sends marks to an idle subscriber rarely, so this client may learn
                // late of new revisions and of a restarted daemon. The ping asks now.
                try await port?.ping()
            } else if phase.isCurrent, actual.epoch != revision.epoch {
                throw .otherHistory(expected: revision, actual: actual)
            } else {
                await shared.moved.change(after: version)
            }
        }
    }

    /// Waits until the mirror shows a state as recent as `consistency` demands, and returns its
    /// revision.
    ///
    ///     try await visits.sync(.linearizable)
    ///     print(visits.count)
    ///
    /// *Throws*: as ``Client/sync(_:within:)``; ``ClientError/otherHistory(expected:actual:)`` if the
    /// daemon has begun another history since.
    @discardableResult
    public func sync(
        _ consistency: ReadConsistency, within limit: Duration = .seconds(5)
    ) async throws(ClientError) -> Revision {
        guard let port else {
            let remedy = "use `sync(_:within:then:)` of the client of this mirror"
            throw .refused(Refusal(.notFound, "a mirror without a thread cannot ask: \(remedy)"))
        }
        try await reached(try await port.sync(consistency, within: limit))
        return revision
    }
}

extension Mirror: Hashable {
    public static func == (left: Mirror, right: Mirror) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: - Proof
extension Mirror {
    /// Compares the mirror with the daemon's checksum of the same state; true if they are equal.
    ///
    ///     if try await !visits.verify() { log("a mirror differed, and was replaced") }
    ///
    /// A difference shows a mistake: memory that failed, or a `reduce` whose result here differs
    /// from that in the daemon. The mirror then restarts with a snapshot, and shows it when this
    /// returns false; ``ClientStatistics/resynchronisations`` counts it and ``news`` reports it.
    ///
    /// *Throws*: ``ClientError/notComparable(path:)`` if the mirror follows the value: it runs no
    /// `reduce` then. *Cost*: both sides encode all of the node's state, on their loops.
    public func verify() async throws(ClientError) -> Bool {
        guard let port else { throw .notComparable(path: path) }
        return try await port.ask { [self] client, then in client.verify(self, then: then) }
    }

    // MARK: News

    /// The notices of this mirror's client: see ``Client/notices``.
    public var news: ClientNotices { ClientNotices(feed: shared.news) }
}
