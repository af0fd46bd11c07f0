import Glibc
public import ReactorBytes
public import ReactorCore
public import ReactorLoop
import ReactorThreads

/// A client on a loop of the caller's, in callback style.
///
/// *Place*: the thin shell of ``ClientMachine``: it opens the socket, keeps the timer, and at the
/// end of each turn writes the turn's bytes with one call. ``Client`` is the same on a thread of
/// its own.
///
/// *Owner*: the loop's thread. Several clients may share one loop. ``close()`` it before the loop.
public final class LoopClient: TurnEnding {
    /// The client without its I/O: programs call its functions.
    public let machine: ClientMachine
    /// The loop of this client.
    public let loop: EventLoop
    /// Path of the socket in use, or of the last one.
    public private(set) var socketPath: String?
    private let candidates: [Candidate]
    private let timer: LoopTimer
    private var connection: Connection?
    private var lastConnection = 0
    /// True once the loop will call ``endTurn()`` at the end of this turn. A cell: every action
    /// reads it, from code that is inlined elsewhere.
    @usableFromInline let isTurnEndExpected = Cell(false)

    /// A path where the daemon's socket may be.
    private struct Candidate {
        var path: String
        /// Why no socket can be there.
        var refusal: String?
        /// The users whose processes may listen there.
        var trust: SocketTrust
    }

    /// Makes a client of the daemon at the socket `path`; where that is `nil`, of `reactord` at one
    /// of its default paths.
    ///
    /// *Throws*: as the initialiser that takes a place.
    public convenience init(
        on loop: EventLoop, to path: String? = nil, options: ClientOptions = ClientOptions()
    ) throws(ClientError) {
        try self.init(on: loop, to: path.map { .socket($0) } ?? .reactord, options: options)
    }

    /// Makes a client of the daemon at a place. It does nothing before ``start(_:)``. Once a daemon
    /// has welcomed it, it reconnects to that socket only.
    ///
    /// *Throws*: if the loop is closed, the journal cannot be opened, or the text is no name of a
    /// daemon.
    public init(
        on loop: EventLoop, to place: DaemonAddress, options: ClientOptions = ClientOptions()
    ) throws(ClientError) {
        self.loop = loop
        candidates = try Self.candidates(place, options)
        // Opened first: a failure leaves no object on the loop.
        let journal = try options.journal.map(Self.journal)
        do throws(LoopError) {
            timer = try LoopTimer(on: loop)
        } catch {
            throw .system("\(error)")
        }
        var random = SystemRandomNumberGenerator()
        let (handle, mark, name) = (loop.handle, ForkMark(), Confined(ClientName()))
        // In a forked process the loop's queue is a copy whose lock may stay locked.
        machine = ClientMachine(
            options, journal: journal,
            wake: { if mark.isCurrent { handle.post { name.open().client?.expectTurnEnd() } } },
            random: { random.next() })
        name.open().client = self
        // A completion may release the client, which must live until the call ends.
        timer.onFire = { [unowned self] in
            let client = self
            client.machine.timerFired()
            client.expectTurnEnd()
        }
    }

    private static func candidates(
        _ place: DaemonAddress, _ options: ClientOptions
    ) throws(ClientError) -> [Candidate] {
        switch place {
        case .socket(let path): return [Candidate(path: path, trust: trust(in: path, options))]
        case .daemon(let name):
            let daemon: DaemonName
            do throws(DaemonNameError) {
                daemon = try DaemonName(name)
            } catch {
                throw .unreachable(tried: [ClientError.Attempt(path: name, reason: "\(error)")])
            }
            return SocketCandidates.list(
                of: daemon, environment: ProcessEnvironment.environment, uid: geteuid()
            ).map { place in
                Candidate(
                    path: place.path, refusal: place.refusal.map { "\($0)" },
                    trust: trust(in: place.path, options))
            }
        }
    }

    /// The users trusted at a path, given or found.
    static func trust(in path: String, _ options: ClientOptions) -> SocketTrust {
        SocketTrust(
            named: options.daemonUID,
            trustsSystemDirectory: SocketCandidates.isSystemPath(path))
    }

    private static func journal(at path: String) throws(ClientError) -> ClientJournal {
        try ClientJournal(at: path)
    }

    deinit {
        // The loop closes its connections later; their callbacks must not reach this client.
        timer.onFire = nil
        timer.close()
        connection?.onBytes = nil
        connection?.onClosed = nil
        connection?.close()
    }

    /// Connects; `completion` is called once, when that succeeded or failed.
    public func start(_ completion: @escaping (Result<Welcome, ClientError>) -> Void) {
        machine.start(completion)
        expectTurnEnd()
    }

    /// Ends the client: see ``ClientMachine/close()``.
    public func close() {
        machine.close()
        pump()
        timer.close()
    }

    /// Schedules the write of new bytes for the end of this turn, or of the next.
    @inlinable
    package func expectTurnEnd() {
        if !isTurnEndExpected.value { wake() }
    }

    @usableFromInline
    func wake() {
        isTurnEndExpected.value = true
        loop.atTurnEnd(self)
    }

    package func endTurn() {
        isTurnEndExpected.value = false
        if machine.needsShell { pump() }
        loop.expectInput(from: machine.pendingCount > 0 ? connection : nil)
    }

    /// Writes the machine's bytes and executes its orders.
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
            // The client, which may be released by then, ignores bytes that still arrive.
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
            // The daemon at another path does not know this client's session.
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
            client.expectTurnEnd()
        }
        new.onClosed = { [unowned self] _ in
            let client = self
            // The event may belong to an earlier connection.
            guard client.connection != nil, number == client.lastConnection else { return }
            client.connection = nil
            client.machine.disconnected()
            client.expectTurnEnd()
        }
        new.resumeReading()
    }
}

// MARK: - Asking
extension LoopClient {
    /// Runs `body` with ``machine``, and schedules the write of the resulting bytes:
    ///
    ///     try client.act { try $0.dispatch(Counter.Action.reset, to: node) }
    @inlinable
    public func act<Result, Failure: Error>(
        _ body: (ClientMachine) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { expectTurnEnd() }
        return try body(machine)
    }
}

/// A reference to a client that other threads pass to the client's own thread.
private final class ClientName {
    weak var client: LoopClient?
}

extension ClientError.Attempt {
    /// The refusal at the path `path` that `error` stands for.
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
