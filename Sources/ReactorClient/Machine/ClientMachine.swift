public import ReactorBytes
public import ReactorCore
import ReactorThreads

/// A client's half of the conversation: bytes, ticks and requests in, bytes and orders out.
///
/// It coordinates its organs, each of which owns its state and returns what is to be done: ``Link``
/// (connections and the session), ``Outbox`` (actions), ``Inbound`` (what has not taken effect),
/// ``Following`` (slices), ``Requests`` (questions and nodes), ``Leases``, ``MirrorChecks``. It
/// borrows one for a verb at a time and calls programs only between verbs.
///
/// *Place*: a shell (``LoopClient``, a simulation) reports what the socket and the clock do, and after
/// each such call carries out ``takeOutputs()`` and writes ``takeOutgoing()``. The machine opens no
/// socket, reads no clock and starts no thread.
///
/// *Owner*: one thread. Completions run inside ``receive(_:)`` and its siblings and may ask for more;
/// they may not call those again.
public final class ClientMachine {
    /// The options that the machine was made with.
    package let options: ClientOptions
    /// Receives news about actions whose outcome was told before: ordinal and news.
    package var onNotice: ((UInt64, Notice) -> Void)?
    /// Called when the daemon has lost a part of its history: with the revision that mirrors showed,
    /// and the revision that they show now.
    package var onRollback: ((_ from: Revision, _ to: Revision) -> Void)?
    /// Receives ``phase`` whenever it changes.
    package var onPhase: ((ClientPhase) -> Void)?
    let shared: SharedState
    private let random: () -> UInt64
    private var outputs: [ClientOutput] = []

    // Cells, so that code which is inlined, and every frame, reaches them without run-time checks.
    let link: Place<Link>
    @usableFromInline let outbox: Place<Outbox>
    let inbound: Place<Inbound>
    let following: Place<Following>
    let requests: Place<Requests>
    let leases = Place(Leases())
    let checks = Place(MirrorChecks())

    /// Makes a machine that does nothing before ``start(_:)``.
    ///
    /// `random` yields random 64-bit numbers, for pauses. `wake` is called on any thread, when the
    /// machine has something for its shell though no call asked for it: the last reference to a
    /// mirror went away.
    ///
    /// It opens no journal: the shell opens the file that ``ClientOptions/journal`` names.
    package convenience init(
        _ options: ClientOptions = ClientOptions(), wake: @escaping @Sendable () -> Void = {},
        random: @escaping () -> UInt64
    ) {
        self.init(options, journal: nil, wake: wake, random: random)
    }

    /// Makes a machine that continues with what is in `journal`, if there is one.
    init(
        _ options: ClientOptions, journal: ClientJournal?,
        wake: @escaping @Sendable () -> Void = {},
        random: @escaping () -> UInt64
    ) {
        self.options = options
        self.random = random
        link = Place(Link(options, hasJournal: journal != nil))
        outbox = Place(Outbox(queueBytesMax: options.queueBytesMax))
        inbound = Place(Inbound(stagedBytesMax: options.stagedBytesMax))
        following = Place(
            Following(
                frameBytesMax: options.frameBytesMax, partBytesMax: options.stagedBytesMax))
        requests = Place(Requests(answerBytesMax: options.stagedBytesMax))
        shared = SharedState(
            TreeEnvironment(post: { _ in }, spawn: options.spawn, clock: options.clock), wake: wake)
        if let journal { recover(from: journal) }
    }

    /// What the daemon said when this connection, or the last one, began.
    package var welcome: Welcome? { link.value.welcome }

    /// How many sockets have been open so far, one after the other.
    package var connectionCount: UInt64 { link.value.connectionCount }

    /// What happened to the client so far.
    package var statistics: ClientStatistics { shared.statistics.withLock { $0 } }

    /// How far the conversation is, as programs see it.
    package var phase: ClientPhase { link.value.phase }

    /// The revision that the mirrors show.
    package var revision: Revision { shared.revision.withLock { $0 } }

    /// Actions that have no outcome yet.
    package var pendingCount: Int { outbox.value.pendingCount }

    // MARK: What the shell takes

    /// What the shell has to do, in order.
    package func takeOutputs() -> [ClientOutput] {
        if outputs.isEmpty { return [] }
        let taken = outputs
        outputs.removeAll(keepingCapacity: true)
        return taken
    }

    /// True while the shell has something to write or to do.
    package var needsShell: Bool {
        outbox.value.hasOutgoing || !outputs.isEmpty || shared.released.isUp
            || outbox.value.mustKeep
    }

    /// The bytes to be written now, if there are any; the shell calls it once a turn.
    package func takeOutgoing() -> OutgoingBytes? {
        if shared.released.take() {
            following.value.leaveReleased()
            carryOutFollowing()
            // Outcomes may have waited for the slices of those.
            if outbox.value.queue.window > 0 { settle() }
        }
        if link.value.hasJournal, !keepPending() { return nil }
        return outbox.value.takeOutgoing()
    }

    // MARK: What the shell reports

    /// Begins to connect; `completion` receives once if that succeeded.
    package func start(_ completion: ((Result<Welcome, ClientError>) -> Void)? = nil) {
        guard link.value.start(completion) else {
            completion?(.failure(.ended))
            return
        }
        outputs.append(.connect)
    }

    /// The socket is open.
    package func connected() {
        guard link.value.connect() else { return }
        inbound.value.connect()
        let frame = outbox.value.queue.writer.beginFrame(.hello, number: Hello.magic)
        link.value.hello(
            shortProgram, confirmed: outbox.value.contiguous, applied: outbox.value.applied
        ).encode(into: &outbox.value.queue.writer)
        outbox.value.queue.writer.endFrame(at: frame)
        outputs.append(.setTimer(options.handshakeDeadline))
    }

    /// No daemon accepted a connection.
    package func connectFailed(_ tried: [ClientError.Attempt]) {
        guard let next = link.value.failToConnect(tried, random) else { return }
        follow(next)
    }

    /// The socket is closed, by the daemon or by the system.
    package func disconnected() {
        guard link.value.isConnected else { return }
        loseConnection()
    }

    /// The time that was asked for has passed.
    package func timerFired() {
        switch link.value.timeOut() {
        case .none: break
        case .connect: outputs.append(.connect)
        case .giveUp(let fault): dropConnection(fault)
        }
    }

    /// Ends the client at once: the session is given up, actions without outcome are unknown.
    ///
    /// With a journal that holds such actions the session is left as it is, for the next run to
    /// continue.
    package func close() {
        guard link.value.end == nil else { return }
        let kept = leaveJournal()
        // The next run continues the session, and sends what the journal has.
        if kept == .none, link.value.isLive {
            outbox.value.queue.writer.header(FrameHeader(kind: .goodbye))
        }
        // Nothing may leave that the journal does not have.
        if kept == .uncertain { outbox.value.dropOutgoing() }
        fail(.ended, leaving: kept)
    }

    /// Calls `completion` when every action that was submitted before has an outcome.
    package func drain(_ completion: @escaping () -> Void) {
        guard link.value.end == nil, outbox.value.drain(completion) else { return completion() }
    }

    private var shortProgram: String {
        guard options.program.utf8.count > 64 else { return options.program }
        return String(decoding: Array(options.program.utf8.prefix(60)), as: UTF8.self)
    }
}

// MARK: - Sessions
extension ClientMachine {
    /// The daemon answered the hello.
    func greet(_ greeting: Welcome) throws(ClientFault) {
        guard greeting.version == Hello.version else {
            throw ClientFault("welcome to version \(greeting.version), not \(Hello.version)")
        }
        outputs.append(.stopTimer)
        let isFirst = welcome == nil
        let session = link.value.session
        let isResumed = greeting.isResumed && session.secret != nil
        let isSameEpoch = greeting.epoch == session.epoch
        // A program that continues an earlier one's session continues its numbers; a journal knows
        // them.
        if isResumed, isFirst, !link.value.hasJournal {
            outbox.value.renumber(after: greeting.ordinal)
        }
        // Outcomes that were held back are of the history that is known so far.
        if isResumed {
            _ = inbound.value.takeHeld()
        } else if !isFirst || session.secret != nil {
            // Another epoch is another daemon's, and effects end with theirs.
            giveUpSent(
                isSameEpoch ? .sessionExpired : .historyLost, haveEffectsEnded: !isSameEpoch)
        }
        // A completion may have ended the client.
        guard link.value.stage.isGreeting else { return }
        // A history that was cut need not hold what was applied before.
        if !isResumed || !isSameEpoch { outbox.value.forgetApplied() }
        link.value.greet(greeting, shown: revision)
        outbox.value.keep(
            session: greeting.session, epoch: greeting.epoch, since: link.value.session.since)
        resume(greeting, isResumed: isResumed)
        tellLostPast()
        tellPhase()
        link.value.takeStarting()?(.success(greeting))
    }

    /// Asks and sends again on a new connection what the last one did not conclude.
    private func resume(_ greeting: Welcome, isResumed: Bool) {
        releaseReturnedNodes()
        requests.value.spoilIdle()
        requests.value.sendOpens(to: &outbox.value.queue.writer) { !leases.value.isUnleased($0) }
        inbound.value.resync(following.value.wasLive)
        following.value.resubscribe { !leases.value.isUnleased($0) }
        carryOutFollowing()
        outbox.value.resend(
            after: isResumed ? greeting.ordinal : 0,
            bodyBytesMax: Int(greeting.limits.frameBytesMax))
        requests.value.sendQuestions(to: &outbox.value.queue.writer)
        outbox.value.open(
            window: max(1, min(options.inFlightMax, Int(greeting.limits.inFlightMax))))
        carryOut(leases.value.renew())
    }

    /// Closes the socket because of what the daemon did.
    func dropConnection(_ fault: ClientFault) {
        guard link.value.isConnected else { return }
        link.value.part(fault)
        leaveConnection()
    }

    /// Closes the socket from this side.
    func leaveConnection() {
        outputs.append(.close)
        loseConnection()
    }

    private func loseConnection() {
        let wasLive = link.value.isLive
        outbox.value.close()
        if wasLive { _ = takeOutgoing() }
        // A journal that cannot be written ends the client.
        guard link.value.end == nil else { return }
        outbox.value.dropOutgoing()
        requests.value.loseConnection()
        leases.value.loseConnection()
        following.value.release { leases.value.covers($0) }
        inbound.value.disconnect()
        let sinks = following.value.suspend()
        inbound.value.resync(following.value.wasLive)
        let next = link.value.lose(random)
        for sink in sinks { sink.setLive(false) }
        // An observer may have ended the client.
        guard link.value.end == nil else { return }
        follow(next)
        if wasLive, link.value.end == nil { tellPhase() }
    }

    private func follow(_ next: Link.Next) {
        switch next {
        case .pause(let nanoseconds): outputs.append(.setTimer(nanoseconds))
        case .fail(let error): fail(error)
        }
    }

    /// Reports that ``phase`` has changed.
    private func tellPhase() {
        onPhase?(phase)
        for completion in link.value.takeMet() { completion() }
    }

    /// Calls `then` as soon as `isMet` is true of the phase and the number of the last connection;
    /// when the client ends as well.
    func wait(
        until isMet: @escaping (ClientPhase, UInt64) -> Bool, then: @escaping () -> Void
    ) {
        if !link.value.wait(Link.PhaseWaiter(isMet: isMet, then: then)) { then() }
    }

    /// Ends the client for good.
    ///
    /// `kept` says what a journal has of the actions without an outcome if the client has parted with
    /// it already.
    func fail(_ error: ClientError, leaving kept: KeptActions = .none) {
        let kept = outbox.value.hasJournal ? leaveJournal() : kept
        let wasConnected = link.value.isConnected
        link.value.end(error)
        outbox.value.close()
        if wasConnected { outputs.append(.close) }
        outputs.append(.stopTimer)
        giveUpSent(kept == .all ? .kept : .ended)
        giveUpWaiting(error, kept)
        for call in requests.value.takeAll() { call(error) }
        for completion in checks.value.takeAll() { completion(.failure(error)) }
        carryOut(leases.value.endAll(error))
        inbound.value.disconnect()
        following.value.removeAll(because: error) { _ in true }
        carryOutFollowing()
        link.value.takeStarting()?(.failure(error))
        for completion in outbox.value.takeDrains() { completion() }
        shared.news.finish()
        tellPhase()
    }

    /// Reports that a part of the past is lost, as soon as every mirror shows what is left.
    func tellLostPast() {
        guard link.value.lostPast != nil, link.value.isLive, let welcome else { return }
        var to = Revision(epoch: welcome.epoch, sequence: welcome.sequence)
        if following.value.wasLive {
            guard revision.epoch == welcome.epoch else { return }
            to = revision
        }
        guard let from = link.value.takeLostPast() else { return }
        shared.statistics.withLock { $0.rollbacks += 1 }
        shared.news.add(.rolledBack(from: from, to: to))
        onRollback?(from, to)
    }
}

// MARK: - The journal
extension ClientMachine {
    /// Takes over what an earlier run left in the journal.
    private func recover(from journal: ClientJournal) {
        let state = outbox.value.recover(from: journal)
        link.value.restore(state.session)
        for node in state.nodesInUse {
            if let path = state.paths[node] { requests.value.restore(node, path) }
        }
        shared.statistics.withLock { $0.recoveredActions = UInt64(state.frames.count) }
    }

    /// Has the journal hold what is about to leave, and what waits.
    ///
    /// A client whose journal cannot be written ends, since it could not keep its promise;
    /// returns false then.
    private func keepPending() -> Bool {
        do throws(ClientError) {
            try outbox.value.keep { requests.value.path(of: $0) }
            return true
        } catch {
            fail(error, leaving: outbox.value.lostJournal)
            return false
        }
    }

    /// Parts with the journal as the client ends.
    private func leaveJournal() -> KeptActions {
        outbox.value.leaveJournal { requests.value.path(of: $0) }
    }
}

// MARK: - Actions
extension ClientMachine {
    /// Sends an action; `completion` receives its outcome.
    ///
    /// Actions apply in the order of these calls. Where the window is full, or there is no
    /// connection, the action waits. An action with conditions, or any other option, is an
    /// ``OutgoingAction``.
    /// *Throws*: as ``submit(_:then:whenKnown:)``.
    @inlinable
    public func dispatch<Action: WireCodable>(
        _ action: Action, to node: NodeID, then completion: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        guard outbox.value.queue.isOpen else {
            return try submit(encoded: action.wireBytes(), to: node, then: completion)
        }
        let start = outbox.value.queue.begin(node)
        action.encode(into: &outbox.value.queue.writer)
        try outbox.value.queue.end(at: start, then: completion)
    }

    /// Sends an encoded action without options.
    @usableFromInline
    func submit(
        encoded bytes: [UInt8], to node: NodeID, then completion: ((ActionOutcome) -> Void)?
    ) throws(ClientError) {
        try submit(OutgoingAction(encoded: bytes, to: node), then: completion)
    }

    /// Sends an action with everything that it asks for.
    ///
    /// `completion` receives the outcome: where the action awaits its effects, once they have ended.
    /// `listener` receives it when it arrives, before `completion`. A preview ends before both, or
    /// where this throws.
    /// *Throws*: where too much waits already, the action is too large, or the client has ended;
    /// nothing was sent then.
    package func submit(
        _ action: OutgoingAction, then completion: ((ActionOutcome) -> Void)? = nil,
        whenKnown listener: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        do throws(ClientError) {
            if let error = link.value.end { throw error }
            guard let listener, !action.awaitsEffects else {
                return try outbox.value.submit(action, listener, then: completion)
            }
            try outbox.value.submit(action, nil) { outcome in
                listener(outcome)
                completion?(outcome)
            }
        } catch {
            action.preview?.settle()
            throw error
        }
    }
}

// MARK: - Nodes and questions
extension ClientMachine {
    /// Makes the node at `path` addressable, once for all callers.
    ///
    /// The number stands for the path, whatever comes to stand there, until it is given back by
    /// ``release(_:)-(NodeID)`` as often as this gave it.
    public func open(
        _ path: String, then completion: @escaping (Result<NodeID, ClientError>) -> Void
    ) {
        if let error = link.value.end { return completion(.failure(error)) }
        guard !path.isEmpty else {
            return completion(.failure(.refused(Refusal(.path, "the path is empty"))))
        }
        releaseReturnedNodes()
        let countMax = welcome.map { Int($0.limits.nodesMax) } ?? .max
        let path = Self.canonical(path)
        switch requests.value.open(path, countMax: countMax, then: completion) {
        case .open(let node): completion(.success(node))
        case .pending: break
        case .needsRequest(let index):
            guard link.value.isLive else { return }
            requests.value.sendOpen(index, to: &outbox.value.queue.writer)
        }
    }

    /// Gives back a number that ``open(_:then:)`` gave: it may stand for another path from now on.
    ///
    /// *Owner*: the caller that opened it, while it has no action to it without an outcome.
    package func release(_ node: NodeID) { requests.value.release(node) }

    /// Gives back the numbers that other threads have let go.
    func releaseReturnedNodes() {
        for node in shared.returns.take() { requests.value.release(node) }
    }

    /// Makes the node at `path` addressable until what `completion` receives is let go.
    package func hold(
        _ path: String, then completion: @escaping (Result<NodeHold, ClientError>) -> Void
    ) {
        open(path) { [returns = shared.returns] result in
            completion(result.map { NodeHold($0, returns) })
        }
    }

    /// The type of the reactor at an open node, as the daemon names it.
    func reactorName(of node: NodeID) -> String { requests.value.reactorName(of: node) }

    /// Asks a question; the answer's bytes are one CBOR item, or what ``Ask`` says.
    package func ask(
        _ ask: Ask, then completion: @escaping (Result<[UInt8], ClientError>) -> Void
    ) {
        if let error = link.value.end { return completion(.failure(error)) }
        send(requests.value.ask(ask, then: completion))
    }

    /// Asks for a sign of life, which also brings every mirror up to date.
    public func ping(then completion: @escaping (Result<Void, ClientError>) -> Void) {
        if let error = link.value.end { return completion(.failure(error)) }
        send(requests.value.ping(then: completion))
    }

    private func send(_ question: UInt64) {
        guard link.value.isLive else { return }
        requests.value.sendQuestion(question, to: &outbox.value.queue.writer)
    }

    /// The one spelling of a path that has several; a path that is none stays as it is.
    static func canonical(_ path: String) -> String {
        (try? SlicePath(path))?.description ?? path
    }
}
