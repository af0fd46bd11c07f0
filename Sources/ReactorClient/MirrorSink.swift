public import ReactorCore
import ReactorThreads

/// A mirror's end on the client's thread: reads updates, and runs the reactor's own `reduce`.
final class MirrorSink<R: Reactor>: SliceSink {
    let fingerprint = R.fingerprint
    /// The mirror, while somebody holds it.
    private(set) weak var mirror: Mirror<R>?
    private let replica: Replica<R>
    private let phase: Guarded<ClientPhase>
    private let notices: MirrorNotices
    /// What took effect and was not announced yet.
    private var changes = StateChanges.fields([])
    private let board: MirrorBoard
    private let sagas: MirrorSagas<R>
    private var isLive = false
    /// The daemon's name for the type of the node, where that is another type than the mirror's.
    private var otherReactor: String?
    private var isValue = false
    /// Ordinal of the last of this client's actions that is staged.
    private var stagedOwn: UInt64 = 0
    private var starting: Starting?

    /// Who waits for the first state; nobody else holds the mirror before.
    private struct Starting {
        let mirror: Mirror<R>
        var completions: [(Result<Mirror<R>, ClientError>) -> Void]
    }

    init(
        _ replica: Replica<R>, _ mirror: Mirror<R>,
        then ready: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        self.replica = replica
        self.mirror = mirror
        phase = mirror.phaseNow
        notices = mirror.notices
        board = mirror.board
        sagas = mirror.sagas
        starting = Starting(mirror: mirror, completions: [ready])
    }

    var isReleased: Bool { mirror == nil }

    // because its state is read from the whole value, where it does not run `reduce`
    var takesPatches: Bool { false }

    func granted(_ slice: UInt32, of reactor: String, epoch: UInt64) {
        otherReactor = reactor == "\(R.self)" ? nil : reactor
        // because the slices of values have numbers of their own, from here on
        guard slice < 1 << 31 else { return }
        mirror?.idNow.withLock { $0 = ReactorID(epoch: epoch, node: slice) }
    }

    // because what others asked for while this one waited for its first value is nothing to it
    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError) {}

    /// Tells `completion` as soon as the mirror shows the daemon's state; answers false where
    /// nobody holds it any more.
    func whenReady(
        _ completion: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) -> Bool {
        guard let mirror else { return false }
        if starting == nil {
            completion(.success(mirror))
        } else {
            starting?.completions.append(completion)
        }
        return true
    }

    func stage(
        value: Span<UInt8>, isAbsent: Bool, sequence: UInt64
    ) throws(WireError) {
        if isAbsent {
            throw WireError(.mismatch(expected: "a state", got: "nothing"), at: 0)
        }
        // A type that the daemon names in the same way may have fields more or less: that is how
        // types change over time. Under another name, defaults would hide that nothing fits.
        if isValue, otherReactor != nil {
            try replica.stage(exactly: value)
        } else {
            try replica.stage(state: value)
        }
    }

    func explain(_ error: WireError, at path: String) -> ClientError {
        guard let otherReactor else { return .incompatible(path: path, error) }
        return .otherReactor(path: path, expected: "\(R.self)", actual: otherReactor)
    }

    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {
        try replica.stage(delta: delta, from: offset)
    }

    func noteOwn(upTo ordinal: UInt64) { stagedOwn = max(stagedOwn, ordinal) }

    func noteMode(_ mode: SubscriptionMode) {
        // because where the types differ, so may what the reactor makes of an action; and what is
        // shown for other reasons is not what it decides on
        isValue = mode == .value
        board.lock.withLock { replica.setPreviewable(mode == .replica) }
        if mode == .value { mirror?.idNow.withLock { $0 = nil } }
    }

    func checksum() -> UInt64? {
        replica.hasState ? WireChecksum(of: replica.state.wireBytes().span).value : nil
    }

    func discard() {
        replica.discard()
        stagedOwn = 0
    }

    func commit(epoch: UInt64) {
        sagas.note(replica)
        replica.commit()
        let drained = replica.drainChanges()
        changes = changes.union(drained)
        let isOverlaid = replica.isOverlaid
        if stagedOwn > 0 {
            replica.settle(upTo: stagedOwn)
            stagedOwn = 0
        }
        if isOverlaid { changes = changes.union(replica.takeOverlayChanges()) }
        guard replica.hasState, !isLive else { return }
        isLive = true
        phase.whileLocked { $0 = .live }
        // because who reads the phase is told with the rest
        changes = .all
    }

    func announce() {
        let changes = changes
        self.changes = .fields([])
        notices.publish(changes)
        sagas.tellMutations()
        guard replica.hasState, let starting else { return }
        self.starting = nil
        for completion in starting.completions { completion(.success(starting.mirror)) }
    }

    func setLive(_ isLive: Bool) {
        guard replica.hasState, isLive != self.isLive else { return }
        self.isLive = isLive
        phase.withLock { $0 = isLive ? .live : .connecting }
        notices.publishPhase()
        // because who waits for a revision waits for the connection as well
        board.moved.publish()
    }

    func fail(_ error: ClientError) {
        isLive = false
        phase.withLock { $0 = .failed(error) }
        notices.publishEnd()
        sagas.end()
        board.moved.publish()
        guard let starting else { return }
        self.starting = nil
        for completion in starting.completions { completion(.failure(error)) }
    }
}

// MARK: - Mirrors of a machine
extension ClientMachine {
    /// Mirrors the node at `path`, which is of type `type`; `completion` is told once it shows the
    /// daemon's state. The same path and type give the same mirror while somebody holds it.
    public func mirror<R: MirrorableReactor>(
        _ type: R.Type, at path: String,
        then completion: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        mirror(R.makeForMirror(), at: path, then: completion)
    }

    /// Mirrors the node at `path`, by a reactor that needs arguments to be made.
    public func mirror<R: Reactor>(
        _ reactor: R, at path: String,
        then completion: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        mirror(reactor, at: path, port: nil, nil, then: completion)
    }

    /// Mirrors the node at `path`, numbered as `hold` says; with a `port`, the mirror sends actions
    /// itself.
    package func mirror<R: Reactor>(
        _ reactor: R, at path: String, port: ActionPort?, _ hold: NodeHold?,
        then completion: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        let path = Self.canonical(path)
        for subscription in subscriptions where subscription.path == path {
            for case let sink as MirrorSink<R> in subscription.sinks
            where sink.whenReady(completion) { return }
        }
        let replica = Replica(reactor, at: (try? SlicePath(path)) ?? .root)
        let mirror = Mirror<R>(replica, at: path, on: board, port, hold)
        follow(path, .replica, MirrorSink(replica, mirror, then: completion))
    }
}
