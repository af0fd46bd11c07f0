import ReactorCore
import ReactorThreads

/// The part of a mirror on the client's thread: reads updates, and runs the reactor's `reduce`.
final class MirrorSink<R: Reactor>: SliceSink {
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
    private var types: TypeComparison
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
        _ replica: Replica<R>, _ mirror: Mirror<R>, _ missing: MissingFields,
        then ready: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        self.replica = replica
        self.mirror = mirror
        types = TypeComparison(of: R.self, missing)
        phase = mirror.phaseNow
        notices = mirror.notices
        shared = mirror.shared
        sagas = mirror.sagas
        starting = Starting(mirror: mirror, completions: [ready])
    }

    var isReleased: Bool { mirror == nil }

    // A mirror that does not run `reduce` decodes its state from the whole value.
    var takesPatches: Bool { false }

    /// What becomes of fields that the daemon's type lacks.
    var missing: MissingFields { types.missing }

    // MARK: The daemon's types

    var needsTypes: Bool { isValue && !types.areKnown }

    func fits(_ subscribed: Subscribed) -> Bool {
        guard types.fits(subscribed) else { return false }
        types.equal()
        return true
    }

    func learn(_ types: NodeTypes, at path: String) -> TypeVerdict {
        self.types.learn(types, at: path)
    }

    func forgetTypes() { types.forget() }

    // MARK: Updates

    func granted(_ slice: UInt32, epoch: UInt64) {
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
        try replica.stage(state: value)
        guard isValue, let state = replica.stagedState else { return }
        do throws(WireError) {
            try types.check(state)
        } catch {
            replica.discard()
            throw error
        }
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
        phase.whileLocked { $0 = types.livePhase }
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
        phase.withLock { $0 = isLive ? types.livePhase : .connecting }
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
