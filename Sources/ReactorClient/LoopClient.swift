import Glibc
public import ReactorBytes
public import ReactorCore
public import ReactorLoop
import ReactorThreads

/// A client on a loop of the caller's, in callback style.
///
/// *Place*: the thin shell of ``ClientMachine``: it opens the socket, keeps the timer, and at the
/// end of each turn writes what the turn caused with one call. ``Client`` is the same behind a
/// thread of its own.
///
/// *Owner*: the loop's thread. Several clients may live on one loop. ``close()`` it before the
/// loop.
public final class LoopClient: TurnEnding {
    /// The conversation itself: everything that is asked, is asked of it.
    public let machine: ClientMachine
    /// The loop that it lives on.
    public let loop: EventLoop
    /// The socket that is in use, or was last.
    public private(set) var socketPath: String?
    private let candidates: [Candidate]
    private let timer: LoopTimer
    private var connection: Connection?
    private var lastConnection = 0
    // because every action asks for it, from code inlined elsewhere
    /// Whether the turn's end is known to be of interest.
    @usableFromInline let isNoted = Place(false)

    /// A place where the daemon's socket may be.
    private struct Candidate {
        var path: String
        /// Why no socket can be there.
        var refusal: String?
        /// Whose processes may listen there.
        var trust: SocketTrust
    }

    /// Makes a client of the daemon at `path`, or, where that is `nil`, of the first that accepts
    /// at one of the usual places. It does nothing before ``start(_:)``. Once a daemon has
    /// welcomed it, it comes back to that socket alone.
    ///
    /// *Throws*: where the loop is closed, or the journal cannot be had.
    public init(
        on loop: EventLoop, to path: String? = nil, options: ClientOptions = ClientOptions()
    ) throws(ClientError) {
        self.loop = loop
        if let path {
            candidates = [
                Candidate(path: path, trust: SocketTrust(named: options.daemonUID))
            ]
        } else {
            candidates = SocketCandidates.list(
                environment: ProcessPlace.environment, uid: geteuid()
            ).map { place in
                Candidate(
                    path: place.path, refusal: place.refusal.map { "\($0)" },
                    trust: SocketTrust(
                        named: options.daemonUID, trustsSystemDirectory: place.reason == .system))
            }
        }
        // because what fails must leave nothing on the loop
        let journal = try options.journal.map(Self.journal)
        do throws(LoopError) {
            timer = try LoopTimer(on: loop)
        } catch {
            throw .system("\(error)")
        }
        var random = SystemRandomNumberGenerator()
        let (handle, mark, name) = (loop.handle, ForkMark(), Confined(ClientName()))
        // because in a forked process the loop's queue is a copy whose lock may be held for ever
        machine = ClientMachine(
            options, journal: journal,
            wake: { if mark.isCurrent { handle.post { name.open().client?.note() } } },
            random: { random.next() })
        name.open().client = self
        // because a completion may let go of the client, which must last until the call ends
        timer.onFire = { [unowned self] in
            let client = self
            client.machine.timerFired()
            client.note()
        }
    }

    private static func journal(at path: String) throws(ClientError) -> ClientJournal {
        try ClientJournal(at: path)
    }

    deinit {
        // because these speak to this client, and a loop closes its connections later
        timer.onFire = nil
        timer.close()
        connection?.onBytes = nil
        connection?.onClosed = nil
        connection?.close()
    }

    /// Connects; `completion` is told once whether that succeeded.
    public func start(_ completion: @escaping (Result<Welcome, ClientError>) -> Void) {
        machine.start(completion)
        note()
    }

    /// Ends the client: see ``ClientMachine/close()``.
    public func close() {
        machine.close()
        pump()
        timer.close()
    }

    /// Sees to it that what was asked of ``machine`` leaves at the end of the turn, or with the next.
    @inlinable
    public func note() {
        if !isNoted.value { wake() }
    }

    @usableFromInline
    func wake() {
        isNoted.value = true
        loop.atTurnEnd(self)
    }

    public func endTurn() {
        isNoted.value = false
        if machine.needsShell { pump() }
        loop.expectInput(from: machine.pendingCount > 0 ? connection : nil)
    }

    /// Writes and does what the machine wants.
    private func pump() {
        repeat {
            if let out = machine.takeOutgoing(), let connection {
                connection.write(ByteSlices(ByteSlice(out.bytes, range: out.range)))
            }
            for output in machine.takeOutputs() { carryOut(output) }
        } while machine.needsShell
    }

    private func carryOut(_ output: ClientOutput) {
        switch output {
        case .connect: connect()
        case .close:
            let old = connection
            connection = nil
            // because what still comes is for nobody, who may be gone by then
            old?.onBytes = nil
            old?.onClosed = nil
            old?.finish()
        case .setTimer(let nanoseconds):
            timer.start(after: .nanoseconds(Int64(clamping: nanoseconds)))
        case .stopTimer: timer.stop()
        }
    }

    private func connect() {
        var tried: [ClientError.Attempt] = []
        for candidate in candidates {
            let path = candidate.path
            // Another daemon knows nothing of this client's session.
            if machine.welcome != nil, path != socketPath { continue }
            if let refusal = candidate.refusal {
                tried.append(ClientError.Attempt(path: path, reason: refusal))
                continue
            }
            do throws(LoopError) {
                adopt(
                    try Connection.connect(
                        to: UnixAddress(path), on: loop, trusting: candidate.trust))
                socketPath = path
                return machine.connected()
            } catch {
                let attempt = ClientError.Attempt(path: path, error)
                tried.append(attempt)
                if attempt.obstacle != .absent { break }
            }
        }
        machine.connectFailed(tried)
    }

    private func adopt(_ new: Connection) {
        connection = new
        lastConnection += 1
        let number = lastConnection
        new.onBytes = { [unowned self] bytes in
            let client = self
            client.machine.receive(bytes)
            client.note()
        }
        new.onClosed = { [unowned self] _ in
            let client = self
            // because a connection that was given up does not speak for the one after it
            guard client.connection != nil, number == client.lastConnection else { return }
            client.connection = nil
            client.machine.disconnected()
            client.note()
        }
        new.resumeReading()
    }
}

// MARK: - Asking
extension LoopClient {
    /// Sends an action: see ``ClientMachine/dispatch(_:to:then:)``.
    @inlinable
    public func dispatch<Action: WireCodable>(
        _ action: Action, to node: NodeID, then completion: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        try machine.dispatch(action, to: node, then: completion)
        note()
    }

    /// Sends an action that is encoded already.
    public func dispatch(
        encoded action: Span<UInt8>, to node: NodeID, _ conditions: DispatchOptions? = nil,
        then completion: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        try machine.dispatch(encoded: action, to: node, conditions, then: completion)
        note()
    }

    /// Sends an action that `mirror` shows at once: see
    /// ``ClientMachine/dispatch(_:previewedOn:to:_:then:)``.
    public func dispatch<R: Reactor>(
        _ action: R.Action, previewedOn mirror: Mirror<R>, to node: NodeID,
        _ conditions: DispatchOptions? = nil, then completion: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        try machine.dispatch(action, previewedOn: mirror, to: node, conditions, then: completion)
        note()
    }

    /// Sends an action, and waits for its effects: see
    /// ``ClientMachine/perform(_:to:_:then:)``.
    public func perform<Action: WireCodable>(
        _ action: Action, to node: NodeID, _ conditions: DispatchOptions? = nil,
        then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        try machine.perform(action, to: node, conditions, then: completion)
        note()
    }

    /// Sends an action that is encoded already, and waits for its effects.
    public func perform(
        encoded action: Span<UInt8>, to node: NodeID, _ conditions: DispatchOptions? = nil,
        then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        try machine.perform(encoded: action, to: node, conditions, then: completion)
        note()
    }

    /// Sends an action that `mirror` shows at once, and waits for its effects.
    public func perform<R: Reactor>(
        _ action: R.Action, previewedOn mirror: Mirror<R>, to node: NodeID,
        _ conditions: DispatchOptions? = nil, then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        try machine.perform(action, previewedOn: mirror, to: node, conditions, then: completion)
        note()
    }

    /// Makes the node at `path` addressable.
    public func open(
        _ path: String, then completion: @escaping (Result<NodeID, ClientError>) -> Void
    ) {
        machine.open(path, then: completion)
        note()
    }

    /// Asks a question: see ``ClientMachine/ask(_:then:)``.
    public func ask(
        _ ask: Ask, then completion: @escaping (Result<[UInt8], ClientError>) -> Void
    ) {
        machine.ask(ask, then: completion)
        note()
    }

    /// Has a mirror compared with the daemon: see ``Mirror/verify()``.
    public func verify<R: Reactor>(
        _ mirror: Mirror<R>, then completion: @escaping (Result<Bool, ClientError>) -> Void
    ) {
        machine.verify(mirror, then: completion)
        note()
    }

    /// Asks for a sign of life.
    public func ping(then completion: @escaping (Result<Void, ClientError>) -> Void) {
        machine.ping(then: completion)
        note()
    }

    /// Mirrors the node at `path`, which is of type `type`.
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
        machine.mirror(reactor, at: path, then: completion)
        note()
    }
}

/// A client, as other threads pass it to its own.
private final class ClientName {
    weak var client: LoopClient?
}

extension ClientError.Attempt {
    /// What `error` says about the place `path`.
    fileprivate init(path: String, _ error: LoopError) {
        self.init(path: path, reason: error.failure.map { $0.message } ?? "\(error)")
        switch error {
        case .call(let failure):
            switch failure.errnoCode {
            case ENOENT, ENOTDIR, ECONNREFUSED: obstacle = .absent
            case EAGAIN: obstacle = .busy
            case EACCES, EPERM: obstacle = .forbidden
            default: obstacle = .broken
            }
        case .untrustedSocket(_, let fault):
            reason = "\(fault)"
            obstacle = .untrusted
        case .pathIsEmpty, .pathHoldsNUL, .pathIsTooLong: obstacle = .absent
        default: obstacle = .broken
        }
    }
}
