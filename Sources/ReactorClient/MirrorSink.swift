import ReactorBytes
public import ReactorCore
import ReactorThreads

/// A mirror's end on the client's thread: reads updates, and runs the reactor's own `reduce`.
final class MirrorSink<R: Reactor>: SliceSink {
    let mirror: Mirror<R>
    let fingerprint = R.fingerprint
    private let reactor: R
    private var snapshot: R.State?
    private let mutations = Place<[R.Mutation]>([])
    // because what arrives before the first snapshot has no state to apply to
    private var hasState = false
    private var ready: ((Result<Mirror<R>, ClientError>) -> Void)?

    init(
        _ reactor: R, _ mirror: Mirror<R>,
        then ready: @escaping (Result<Mirror<R>, ClientError>) -> Void
    ) {
        self.reactor = reactor
        self.mirror = mirror
        self.ready = ready
    }

    /// Tells `completion` as soon as the mirror shows the daemon's state.
    func whenReady(_ completion: @escaping (Result<Mirror<R>, ClientError>) -> Void) {
        if case .failed(let error) = mirror.phase { return completion(.failure(error)) }
        guard let earlier = ready else { return completion(.success(mirror)) }
        ready = { result in
            earlier(result)
            completion(result)
        }
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
        mirror.cell.whileLocked { cell in
            if let snapshot { cell.state = snapshot }
            reactor._reduce(mutations.value, into: &cell.state)
            cell.phase = .live
        }
        snapshot = nil
        mutations.value.removeAll(keepingCapacity: true)
    }

    func announce() {
        mirror.changed.publish()
        guard hasState, let ready else { return }
        self.ready = nil
        ready(.success(mirror))
    }

    func setLive(_ isLive: Bool) {
        guard hasState else { return }
        let isChange = mirror.cell.withLock { cell in
            let phase = isLive ? ClientPhase.live : .connecting
            defer { cell.phase = phase }
            return cell.phase != phase
        }
        if isChange { mirror.changed.publish() }
    }

    func fail(_ error: ClientError) {
        mirror.cell.withLock { $0.phase = .failed(error) }
        mirror.changed.publish(isLast: true)
        mirror.board.moved.publish()
        if let ready {
            self.ready = nil
            ready(.failure(error))
        }
    }
}

// MARK: - Mirrors of a machine
extension ClientMachine {
    /// Mirrors the node at `path`, which is of type `type`; `completion` is told once it shows the
    /// daemon's state. The same path and type give the same mirror again.
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
            for case let sink as MirrorSink<R> in subscription.sinks {
                return sink.whenReady(completion)
            }
        }
        let mirror = Mirror<R>(reactor.initialState, at: path, on: board, port, node)
        follow(path, .replica, MirrorSink(reactor, mirror, then: completion))
    }
}
