import ReactorCore
import ReactorThreads

/// The part of a mirror on the client's thread: reads updates, and runs the reactor's `reduce`.
final class MirrorSink<R: Reactor>: SliceSink {
    let fingerprint = R.fingerprint
    /// The mirror, while a reference to it exists.
    private(set) weak var mirror: Mirror<R>?
    private let replica: Replica<R>
    private let phase: Guarded<ClientPhase>
    private let notices: MirrorNotices
    /// Changes that took effect and were not announced yet.
    private var changes = StateChanges.fields([])
    private let shared: SharedState
    private let sagas: MirrorSagas<R>
    private var isLive = false
    /// The daemon's name for the type of the node, if it differs from the mirror's.
    private var otherReactor: String?
    private var isValue = false
    /// Ordinal of the last of this client's actions that is staged.
    private var stagedOwn: UInt64 = 0
    private var starting: Starting?

    /// Calls that wait for the first state; they hold the only reference to the mirror until then.
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
        shared = mirror.shared
        sagas = mirror.sagas
        starting = Starting(mirror: mirror, completions: [ready])
    }

    var isReleased: Bool { mirror == nil }

    // A mirror that does not run `reduce` decodes its state from the whole value.
    var takesPatches: Bool { false }

    func granted(_ slice: UInt32, of reactor: String, epoch: UInt64) {
        otherReactor = reactor == R.reactorName ? nil : reactor
        // From this number on, the daemon numbers the slices of values.
        guard slice < 1 << 31 else { return }
        mirror?.idNow.withLock { $0 = ReactorID(epoch: epoch, node: slice) }
    }

    // A patch is for another sink of the slice: this one waits for a whole value.
    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError) {}

    /// Calls `completion` as soon as the mirror shows the daemon's state; returns false if the last
    /// reference to the mirror is gone.
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
        // A daemon's type of the same name may have more or fewer fields, as types change over
        // time. Under another name, defaults would hide that no field matches.
        if isValue, otherReactor != nil {
            try replica.stage(exactly: value)
        } else {
            try replica.stage(state: value)
        }
    }

    func explain(_ error: WireError, at path: String) -> ClientError {
        guard let otherReactor else { return .incompatible(path: path, error) }
        return .otherReactor(path: path, expected: R.reactorName, actual: otherReactor)
    }

    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {
        try replica.stage(delta: delta, from: offset)
    }

    func containsOwn(upTo ordinal: UInt64) { stagedOwn = max(stagedOwn, ordinal) }

    func setMode(_ mode: SubscriptionMode) {
        // Where the types differ, the reactor's decisions may differ too. A mirror that follows the
        // value for another reason does not have the state that the reactor decides on.
        isValue = mode == .value
        shared.lock.withLock { replica.setPreviewable(mode == .replica) }
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
        sagas.stage(replica)
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
        // Readers of the phase observe every field's signal.
        changes = .all
    }

    func announce() {
        let changes = changes
        self.changes = .fields([])
        notices.publish(changes)
        sagas.reportMutations()
        guard replica.hasState, let starting else { return }
        self.starting = nil
        for completion in starting.completions { completion(.success(starting.mirror)) }
    }

    func setLive(_ isLive: Bool) {
        guard replica.hasState, isLive != self.isLive else { return }
        self.isLive = isLive
        phase.withLock { $0 = isLive ? .live : .connecting }
        notices.publishPhase()
        // A task that waits for a revision also waits for the connection.
        shared.moved.publish()
    }

    func fail(_ error: ClientError) {
        isLive = false
        phase.withLock { $0 = .failed(error) }
        notices.publishEnd()
        sagas.end()
        shared.moved.publish()
        guard let starting else { return }
        self.starting = nil
        for completion in starting.completions { completion(.failure(error)) }
    }
}
