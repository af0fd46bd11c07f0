import ReactorCore

/// The state of a client's connection to its daemon: attempts, pauses, the session, the end.
///
/// It decides when to connect again and when to give up, and returns orders to its caller. It calls
/// nothing back.
///
/// *Place*: a part of ``ClientMachine``.
struct Link: ~Copyable {
    private(set) var stage = Stage.idle {
        didSet {
            isLive = stage.isLive
            isConnected = stage.isConnected
        }
    }
    // Every frame reads this; a look at the stage itself costs more.
    private(set) var isLive = false
    /// True while a socket is open.
    private(set) var isConnected = false
    /// The daemon's welcome to this connection, or to the last one.
    private(set) var welcome: Welcome?
    /// Number of sockets that have been open so far, one at a time.
    private(set) var connectionCount: UInt64 = 0
    private(set) var session: Session
    private(set) var pauses: Pauses
    private var parting = Parting.silent
    /// Consecutive refusals with the reason that another connection still holds the session.
    private var busyCount = 0
    private var starting: StartCompletion?
    private var waiters: [PhaseWaiter] = []
    /// Highest sequence that the daemon has mentioned in its present epoch.
    private var lastSequence: UInt64 = 0
    /// The last known revision of the history that the daemon lost, until ``takeLostPast()``.
    private(set) var lostPast: Revision?
    private let keepsTrying: Bool
    /// True if no other client can have the session: its secret is in this client's journal.
    let hasJournal: Bool

    typealias StartCompletion = (Result<Welcome, ClientError>) -> Void

    enum Stage {
        case idle
        /// Waits before the next attempt.
        case pausing
        case connecting
        /// Connected; the hello is sent, and the welcome has not arrived.
        case greeting
        case live
        case ended(ClientError)

        var isLive: Bool { if case .live = self { true } else { false } }
        var isGreeting: Bool { if case .greeting = self { true } else { false } }
        var isConnecting: Bool { if case .connecting = self { true } else { false } }
        /// True while a socket is open.
        var isConnected: Bool { isLive || isGreeting }
    }

    /// The session, as far as the client knows it.
    struct Session {
        var secret: [UInt8]?
        /// The daemon's epoch in its last message about the session.
        var epoch: UInt64?
        /// The daemon's sequence in its first message about the session, if this client received
        /// it.
        var since: UInt64?
    }

    /// Why the last connection ended.
    private enum Parting {
        /// The daemon, or the system, closed the connection without a reason.
        case silent
        /// The daemon gave a reason.
        case closing(Closing)
        /// The client closed the connection: the daemon broke the protocol.
        case fault(ClientFault)
    }

    /// A call that waits for a phase.
    struct PhaseWaiter {
        var isMet: (ClientPhase, UInt64) -> Bool
        var then: () -> Void
    }

    /// What the machine does after an attempt or a connection has ended.
    enum Next {
        /// Wait for this number of nanoseconds.
        case pause(UInt64)
        case fail(ClientError)
    }

    init(_ options: ClientOptions, hasJournal: Bool) {
        session = Session(secret: options.session)
        pauses = Pauses(
            shortest: options.pauseMin, longest: options.pauseMax, timeout: options.busyTimeout)
        keepsTrying = options.keepsTrying
        self.hasJournal = hasJournal
    }

    /// The state of the connection, as programs see it.
    var phase: ClientPhase {
        switch stage {
        case .live: .live
        case .ended(let error): .failed(error)
        case .idle, .pausing, .connecting, .greeting: .connecting
        }
    }

    /// Why the client has ended, if it has.
    var end: ClientError? { if case .ended(let error) = stage { error } else { nil } }

    /// The epoch of the daemon that welcomed the client last; 0 before the first welcome.
    var epoch: UInt64 { welcome?.epoch ?? 0 }
}

// MARK: - Connecting
extension Link {
    /// Begins to connect; returns false if that was done before.
    mutating func start(_ completion: StartCompletion?) -> Bool {
        guard case .idle = stage else { return false }
        starting = completion
        stage = .connecting
        return true
    }

    /// Handles an open socket; returns false if no attempt was under way.
    mutating func connect() -> Bool {
        guard stage.isConnecting else { return false }
        defer { invariants() }
        stage = .greeting
        connectionCount += 1
        parting = .silent
        return true
    }

    /// The part of a hello that is about the session.
    func hello(_ program: String, confirmed: UInt64, applied: UInt64) -> Hello {
        let isKnown = session.secret != nil
        return Hello(
            session: session.secret, confirmed: confirmed, applied: applied, program: program,
            epoch: isKnown ? session.epoch : nil, since: isKnown ? session.since : nil)
    }

    /// Handles an attempt that no daemon accepted.
    mutating func failToConnect(
        _ tried: [ClientError.Attempt], _ random: () -> UInt64
    ) -> Next? {
        guard stage.isConnecting else { return nil }
        if welcome == nil, !keepsTrying,
            !(tried.last?.obstacle == .busy && pauses.waitOutBusy())
        {
            return .fail(.unreachable(tried: tried))
        }
        return pause(random)
    }

    /// What the machine does when its timer fires.
    enum Timeout {
        case none
        case connect
        case giveUp(ClientFault)
    }

    /// Handles the timer.
    mutating func timeOut() -> Timeout {
        switch stage {
        case .pausing:
            stage = .connecting
            return .connect
        case .greeting: return .giveUp(.silence("no welcome within the handshake deadline"))
        case .idle, .connecting, .live, .ended: return .none
        }
    }

    /// Handles the welcome, while mirrors show the revision `shown`: the connection is live.
    mutating func greet(_ greeting: Welcome, shown: Revision) {
        defer { invariants() }
        if let known = welcome, known.epoch != greeting.epoch {
            let sequence = shown.epoch == known.epoch ? shown.sequence : 0
            let last = Revision(epoch: known.epoch, sequence: max(lastSequence, sequence))
            // A loss that was not reported yet reaches further back.
            lostPast = lostPast ?? last
            lastSequence = 0
        }
        lastSequence = max(lastSequence, greeting.sequence)
        welcome = greeting
        session.secret = greeting.session
        session.epoch = greeting.epoch
        if !greeting.isResumed { session.since = greeting.sequence }
        busyCount = 0
        stage = .live
    }

    /// Continues an earlier run's session.
    mutating func restore(_ kept: KeptSession) {
        session = Session(secret: kept.secret, epoch: kept.epoch, since: kept.since)
    }

    /// Records that the connection works.
    mutating func makeProgress() { pauses.restart() }

    /// Takes a sequence from the daemon.
    mutating func reach(_ sequence: UInt64) { lastSequence = max(lastSequence, sequence) }

    /// The last known revision of a lost history; reported once.
    mutating func takeLostPast() -> Revision? {
        defer { lostPast = nil }
        return lostPast
    }

    /// Moves out the calls that wait for the first welcome.
    mutating func takeStarting() -> StartCompletion? {
        defer { starting = nil }
        return starting
    }
}

// MARK: - The end of connections
extension Link {
    /// Records that the client closes the socket after a fault of the daemon.
    mutating func part(_ fault: ClientFault) { parting = .fault(fault) }

    /// Records the daemon's reason to close.
    mutating func part(_ closing: Closing) { parting = .closing(closing) }

    /// Handles a lost connection. After faults of the daemon, each pause is longer than the last.
    mutating func lose(_ random: () -> UInt64) -> Next {
        let wasLive = isLive
        if let error = finalError() { return .fail(error) }
        if wasLive {
            if case .fault = parting {} else { pauses.restart() }
        }
        return pause(random)
    }

    private mutating func pause(_ random: () -> UInt64) -> Next {
        defer { invariants() }
        stage = .pausing
        return .pause(pauses.next(random))
    }

    /// Ends the client for good.
    mutating func end(_ error: ClientError) {
        defer { invariants() }
        stage = .ended(error)
    }

    /// The error that every further attempt would end with, if that is certain.
    private mutating func finalError() -> ClientError? {
        let isFirst = welcome == nil
        if case .closing(let closing) = parting {
            switch closing.code {
            case .framing, .state, .decode, .version:
                return .closed(closing.code, closing.message)
            case .sessionBusy:
                busyCount += 1
                // No other client has the journal, so the daemon has yet to notice the end of an
                // earlier run.
                if hasJournal, busyCount <= 20 { return nil }
                if busyCount > 5 { session.secret = nil }
            case .busy: if isFirst, pauses.waitOutBusy() { return nil }
            default: break
            }
        }
        guard isFirst, !keepsTrying else { return nil }
        switch parting {
        case .closing(let closing): return .closed(closing.code, closing.message)
        case .silent: return .unanswered("it closed the connection before the welcome")
        case .fault(let fault):
            return fault.isSilence ? .unanswered(fault.text) : .daemonFault(fault.text)
        }
    }
}

// MARK: - Phases
extension Link {
    /// Keeps a call until `isMet` is true of the phase and the number of the last connection;
    /// returns false if it is true now, or the client has ended.
    mutating func wait(_ waiter: PhaseWaiter) -> Bool {
        guard end == nil, !waiter.isMet(phase, connectionCount) else { return false }
        waiters.append(waiter)
        return true
    }

    /// Moves out the calls whose condition the changed phase meets.
    mutating func takeMet() -> [() -> Void] {
        let all = waiters
        waiters = []
        return all.filter { !wait($0) }.map(\.then)
    }

    /// Traps in a debug build unless a live connection was counted and has a welcome.
    private func invariants() {
        assert(!isConnected || connectionCount > 0, "a connection was not counted")
        assert(!isLive || welcome != nil, "a connection is live without a welcome")
        assert(!isLive || session.secret != nil, "a connection is live without a session")
    }
}

/// The pauses of a client between its attempts to connect.
struct Pauses {
    /// Attempts to connect since the last successful one.
    private(set) var attempts = 0
    /// Nanoseconds of the pause that was drawn last.
    private(set) var last: UInt64 = 0
    /// Nanoseconds of pauses for a busy daemon before the first welcome.
    private var busy: UInt64 = 0
    /// True where the next pause is for a busy daemon.
    private var isBusy = false
    private let shortest: UInt64
    private let longest: UInt64
    private let timeout: UInt64

    /// Longest pause for a busy daemon, in nanoseconds.
    private static let busyPauseMax: UInt64 = 400_000_000

    /// Draws pauses between `shortest` and `longest` nanoseconds. `timeout` is the total, in
    /// nanoseconds, that a client without a welcome waits for a daemon that is too busy.
    init(shortest: UInt64, longest: UInt64, timeout: UInt64) {
        self.shortest = max(1, min(shortest, longest))
        self.longest = longest
        self.timeout = timeout
    }

    /// Makes the next pause short, and returns true, while a client without a welcome may still
    /// wait for a busy daemon.
    mutating func waitOutBusy() -> Bool {
        guard busy < timeout else { return false }
        isBusy = true
        return true
    }

    /// Records a successful attempt: the next pauses are short again.
    mutating func restart() { attempts = 0 }

    /// Draws a pause; its mean grows with every consecutive attempt.
    mutating func next(_ random: () -> UInt64) -> UInt64 {
        let doublings = UInt64(min(attempts + 1, 20))
        // A crowd of clients is served soon, and the time is limited: many small pauses.
        let bound = min(longest, isBusy ? Self.busyPauseMax : .max)
        let most = shortest > bound >> doublings ? bound : shortest << doublings
        attempts += 1
        // `most` is less than `shortest` where the bound is 0.
        let choices = max(most, shortest) - shortest + 1
        last = shortest + random() % choices
        if isBusy { busy += last }
        isBusy = false
        return last
    }
}

/// A fault of the daemon against the protocol; it ends the connection, not the client.
struct ClientFault: Error {
    var text: String
    /// True if the daemon sent nothing in time, as a stopped daemon does.
    var isSilence = false

    init(_ text: String) { self.text = text }

    /// A daemon that sent nothing for the longest time allowed.
    static func silence(_ text: String) -> ClientFault {
        var fault = ClientFault(text)
        fault.isSilence = true
        return fault
    }
}
