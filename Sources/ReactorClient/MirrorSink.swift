import ReactorBytes
public import ReactorCore
import ReactorThreads

/// A mirror's end on the client's thread: reads updates, and runs the reactor's own `reduce`.
final class MirrorSink<R: Reactor>: SliceSink {
    let fingerprint = R.fingerprint
    /// The mirror, while somebody holds it.
    private(set) weak var mirror: Mirror<R>?
    private let reactor: R
    private let cell: Guarded<Mirror<R>.Cell>
    private let changed: ChangeSignal
    private let board: MirrorBoard
    private var snapshot: R.State?
    private let mutations = Place<[R.Mutation]>([])
    // because what arrives before the first snapshot has no state to apply to
    private var hasState = false
    private var starting: Starting?

    /// Who waits for the first state; nobody else holds the mirror before.
    private struct Starting {
        let mirror: Mirror<R>
        var completions: [(Result<Mirror<R>, ClientError>) -> Void]
    }

    init(
        _ reactor: R, _ mirror: Mirror<R>,
        then ready: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        self.reactor = reactor
        self.mirror = mirror
        cell = mirror.cell
        changed = mirror.changed
        board = mirror.board
        starting = Starting(mirror: mirror, completions: [ready])
    }

    var isReleased: Bool { mirror == nil }

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
        snapshot = try R.State(wireBytes: value)
        mutations.value.removeAll(keepingCapacity: true)
        hasState = true
    }

    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {
        guard hasState else { return }
        try R._decode(delta, from: offset, into: &mutations.value)
    }

    func discard() {
        snapshot = nil
        mutations.value.removeAll()
    }

    func commit(epoch: UInt64) {
        guard hasState else { return }
        cell.whileLocked { cell in
            if let snapshot { cell.state = snapshot }
            reactor._reduce(mutations.value, into: &cell.state)
            cell.phase = .live
        }
        snapshot = nil
        mutations.value.removeAll(keepingCapacity: true)
    }

    func announce() {
        changed.publish()
        guard hasState, let starting else { return }
        self.starting = nil
        for completion in starting.completions { completion(.success(starting.mirror)) }
    }

    func setLive(_ isLive: Bool) {
        guard hasState else { return }
        let isChange = cell.withLock { cell in
            let phase = isLive ? ClientPhase.live : .connecting
            defer { cell.phase = phase }
            return cell.phase != phase
        }
        guard isChange else { return }
        changed.publish()
        // because who waits for a revision waits for the connection as well
        board.moved.publish()
    }

    func fail(_ error: ClientError) {
        cell.withLock { $0.phase = .failed(error) }
        changed.publish(isLast: true)
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
        mirror(reactor, at: path, port: nil, node: nil, then: completion)
    }

    func mirror<R: Reactor>(
        _ reactor: R, at path: String, port: ActionPort?, node: NodeID?,
        then completion: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        let path = Self.canonical(path)
        for subscription in subscriptions where subscription.path == path {
            for case let sink as MirrorSink<R> in subscription.sinks
            where sink.whenReady(completion) { return }
        }
        let mirror = Mirror<R>(reactor.initialState, at: path, on: board, port, node)
        follow(path, .replica, MirrorSink(reactor, mirror, then: completion))
    }
}
