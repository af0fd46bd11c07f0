public import ReactorBytes
public import ReactorCore
import ReactorThreads

/// The client's side of the protocol, without I/O: bytes, ticks and requests in, bytes and orders
/// out.
///
/// It coordinates its parts, each of which owns its state and returns orders: ``Link`` (connections
/// and the session), ``Outbox`` (actions), ``Inbound`` (frames that have not taken effect),
/// ``Following`` (slices), ``Requests`` (questions and nodes), ``Leases``, ``MirrorChecks``. It
/// borrows a part for one verb at a time and calls programs only between verbs.
///
/// *Place*: a shell (``LoopClient``, a simulation) reports what the socket and the clock do, and
/// after each such call executes ``takeOutputs()`` and writes ``takeOutgoing()``. The machine
/// opens no socket, reads no clock and starts no thread.
///
/// *Owner*: one thread. Completions run inside ``receive(_:)`` and the other verbs of the shell.
/// They may send and ask, and must not call the shell's verbs.
public final class ClientMachine {
    /// The options of this client.
    package let options: ClientOptions
    /// Receives each notice that follows an action's outcome, with the action's ordinal.
    package var onNotice: ((UInt64, Notice) -> Void)?
    /// Called when the daemon has lost a part of its history: with the revision that mirrors
    /// showed, and the revision that they show now.
    package var onRollback: ((_ from: Revision, _ to: Revision) -> Void)?
    /// Receives ``phase`` whenever it changes.
    package var onPhase: ((ClientPhase) -> Void)?
    let shared: SharedState
    private let random: () -> UInt64
    private var outputs: [ClientOutput] = []

    // Cells, so that inlined code, and every frame, reaches the parts without run-time checks.
    let link: Cell<Link>
    @usableFromInline let outbox: Cell<Outbox>
    let inbound: Cell<Inbound>
    let following: Cell<Following>
    let requests: Cell<Requests>
    let leases = Cell(Leases())
    let checks = Cell(MirrorChecks())

    /// Makes a machine that does nothing before ``start(_:)``.
    ///
    /// `random` yields random 64-bit numbers, for pauses. The machine calls `wake`, on any thread,
    /// when it has work for its shell outside of a call: the last reference to a mirror was
    /// released.
    ///
    /// It opens no journal: the shell opens the file that ``ClientOptions/journal`` names.
    package convenience init(
        _ options: ClientOptions = ClientOptions(), wake: @escaping @Sendable () -> Void = {},
        random: @escaping () -> UInt64
    ) {
        self.init(options, journal: nil, wake: wake, random: random)
    }

    /// Makes a machine that continues with the contents of `journal`, if there is one.
    init(
        _ options: ClientOptions, journal: ClientJournal?,
        wake: @escaping @Sendable () -> Void = {},
        random: @escaping () -> UInt64
    ) {
        self.options = options
        self.random = random
        link = Cell(Link(options, hasJournal: journal != nil))
        outbox = Cell(Outbox(queueBytesMax: options.queueBytesMax))
        inbound = Cell(Inbound(stagedBytesMax: options.stagedBytesMax))
        following = Cell(
            Following(
                frameBytesMax: options.frameBytesMax, partBytesMax: options.stagedBytesMax))
        requests = Cell(Requests(answerBytesMax: options.stagedBytesMax))
        shared = SharedState(
            TreeEnvironment(post: { _ in }, spawn: options.spawn, clock: options.clock), wake: wake)
        if let journal { recover(from: journal) }
    }

    /// The daemon's welcome to this connection, or to the last one.
    package var welcome: Welcome? { link.value.welcome }

    /// Number of sockets that have been open so far, one at a time.
    package var connectionCount: UInt64 { link.value.connectionCount }

    /// Counters of this client's life so far.
    package var statistics: ClientStatistics { shared.statistics.withLock { $0 } }

    /// The state of the connection, as programs see it.
    package var phase: ClientPhase { link.value.phase }

    /// The revision that the mirrors show.
    package var revision: Revision { shared.revision.withLock { $0 } }

    /// Actions that have no outcome yet.
    package var pendingCount: Int { outbox.value.pendingCount }

    // MARK: What the shell takes

    /// Returns the orders for the shell, in order, and removes them.
    package func takeOutputs() -> [ClientOutput] {
        if outputs.isEmpty { return [] }
        let taken = outputs
        outputs.removeAll(keepingCapacity: true)
        return taken
    }

    /// True while the shell has bytes to write or orders to execute.
    package var needsShell: Bool {
        outbox.value.hasOutgoing || !outputs.isEmpty || shared.released.isUp
            || outbox.value.mustKeep
    }

    /// Returns the bytes to write now, if there are any; the shell calls it once a turn.
    package func takeOutgoing() -> OutgoingBytes? {
        if shared.released.take() {
            following.value.leaveReleased()
            carryOutFollowing()
            // Outcomes may have waited for the slices of released mirrors.
            if outbox.value.queue.window > 0 { settle() }
        }
        if link.value.hasJournal, !keepPending() { return nil }
        return outbox.value.takeOutgoing()
    }

    // MARK: What the shell reports

    /// Begins to connect; `completion` is called once, when that succeeded or failed.
    package func start(_ completion: ((Result<Welcome, ClientError>) -> Void)? = nil) {
        guard link.value.start(completion) else {
            completion?(.failure(.ended))
            return
        }
        outputs.append(.connect)
    }

    /// The shell reports an open socket.
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

    /// The shell reports that no daemon accepted a connection.
    package func connectFailed(_ tried: [ClientError.Attempt]) {
        guard let next = link.value.failToConnect(tried, random) else { return }
        follow(next)
    }

    /// The shell reports that the daemon or the system closed the socket.
    package func disconnected() {
        guard link.value.isConnected else { return }
        loseConnection()
    }

    /// The shell reports that the timer has fired.
    package func timerFired() {
        switch link.value.timeOut() {
        case .none: break
        case .connect: outputs.append(.connect)
        case .giveUp(let fault): dropConnection(fault)
        }
    }

    /// Ends the client at once: gives up the session, and makes actions without an outcome unknown.
    ///
    /// With a journal that holds such actions, the session stays open for the next run to continue.
    package func close() {
        guard link.value.end == nil else { return }
        let kept = leaveJournal()
        // The next run continues the session and sends the actions in the journal.
        if kept == .none, link.value.isLive {
            outbox.value.queue.writer.header(FrameHeader(kind: .goodbye))
        }
        // An action must not leave before the journal has it.
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
    /// Handles the daemon's answer to the hello.
    func greet(_ greeting: Welcome) throws(ClientFault) {
        guard greeting.version == Hello.version else {
            throw ClientFault("welcome to version \(greeting.version), not \(Hello.version)")
        }
        outputs.append(.stopTimer)
        let isFirst = welcome == nil
        let session = link.value.session
        let isResumed = greeting.isResumed && session.secret != nil
        let isSameEpoch = greeting.epoch == session.epoch
        // A program that continues an earlier program's session continues its ordinals too. A
        // journal supplies them.
        if isResumed, isFirst, !link.value.hasJournal {
            outbox.value.renumber(after: greeting.ordinal)
        }
        // Outcomes that were held back belong to the history that was known before this welcome.
        if isResumed {
            _ = inbound.value.takeHeld()
        } else if !isFirst || session.secret != nil {
            // Another epoch means that the daemon was restarted, and effects end with their daemon.
            giveUpSent(
                isSameEpoch ? .sessionExpired : .historyLost, haveEffectsEnded: !isSameEpoch)
        }
        // A completion may have ended the client.
        guard link.value.stage.isGreeting else { return }
        // A history that lost its end may lack the actions that were applied before.
        if !isResumed || !isSameEpoch { outbox.value.forgetApplied() }
        link.value.greet(greeting, shown: revision)
        outbox.value.keep(
            session: greeting.session, epoch: greeting.epoch, since: link.value.session.since)
        resume(greeting, isResumed: isResumed)
        reportLostPast()
        reportPhase()
        link.value.takeStarting()?(.success(greeting))
    }

    /// Repeats on a new connection the requests and actions that the last one did not conclude.
    private func resume(_ greeting: Welcome, isResumed: Bool) {
        releaseReturnedNodes()
        requests.value.invalidateIdle()
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

    /// Closes the socket after a fault of the daemon.
    func dropConnection(_ fault: ClientFault) {
        guard link.value.isConnected else { return }
        link.value.part(fault)
        leaveConnection()
    }

    /// Closes the socket from the client's side.
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
        carryOutFollowing()
        // An observer may have ended the client.
        guard link.value.end == nil else { return }
        follow(next)
        if wasLive, link.value.end == nil { reportPhase() }
    }

    private func follow(_ next: Link.Next) {
        switch next {
        case .pause(let nanoseconds): outputs.append(.setTimer(nanoseconds))
        case .fail(let error): fail(error)
        }
    }

    /// Reports a change of ``phase``.
    private func reportPhase() {
        onPhase?(phase)
        for completion in link.value.takeMet() { completion() }
    }

    /// Calls `then` as soon as `isMet` is true of the phase and the number of the last connection,
    /// or when the client ends.
    func wait(
        until isMet: @escaping (ClientPhase, UInt64) -> Bool, then: @escaping () -> Void
    ) {
        if !link.value.wait(Link.PhaseWaiter(isMet: isMet, then: then)) { then() }
    }

    /// Ends the client for good.
    ///
    /// `kept` says which actions without an outcome the journal has, if the client has closed the
    /// journal already.
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
        reportPhase()
    }

    /// Reports the loss of a part of the history, once every mirror shows the state that is left.
    func reportLostPast() {
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

    // MARK: The journal

    /// Takes over the actions that an earlier run left in the journal.
    private func recover(from journal: ClientJournal) {
        let state = outbox.value.recover(from: journal)
        link.value.restore(state.session)
        for node in state.nodesInUse {
            if let path = state.paths[node] { requests.value.restore(node, path) }
        }
        shared.statistics.withLock { $0.recoveredActions = UInt64(state.frames.count) }
    }

    /// Writes to the journal the actions that are about to leave, and those that wait.
    ///
    /// Returns false if the journal cannot be written. The client has ended then, as it could not
    /// keep its promise.
    private func keepPending() -> Bool {
        do throws(ClientError) {
            try outbox.value.keep { requests.value.path(of: $0) }
            return true
        } catch {
            fail(error, leaving: outbox.value.lostJournal)
            return false
        }
    }

    /// Closes the journal as the client ends.
    private func leaveJournal() -> KeptActions {
        outbox.value.leaveJournal { requests.value.path(of: $0) }
    }

    // MARK: Actions

    /// Sends an action; `completion` receives its outcome.
    ///
    /// Actions apply in the order of these calls. An action waits while the window is full or there
    /// is no connection. For conditions and other options, submit an ``OutgoingAction``.
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

    /// Sends an action with all its options.
    ///
    /// `completion` receives the outcome. For an action that awaits its effects, that is after the
    /// effects have ended; `listener` receives the outcome when it arrives, before `completion`. A
    /// preview ends before both calls, or when this throws.
    /// *Throws*: if too many bytes wait already, the action is too large, or the client has ended;
    /// the action is not sent then.
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

    // MARK: Nodes and questions

    /// Makes the node at `path` addressable, once for all callers.
    ///
    /// The number means this path, even if another node takes its place there, until each call of
    /// this function is matched by one of ``release(_:)-(NodeID)``.
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

    /// Releases a number that ``open(_:then:)`` returned: it may mean another path from now on.
    ///
    /// *Owner*: the caller that opened it, once none of its actions to the node lacks an outcome.
    package func release(_ node: NodeID) { requests.value.release(node) }

    /// Releases the numbers that other threads have returned.
    func releaseReturnedNodes() {
        for node in shared.returns.take() { requests.value.release(node) }
    }

    /// Makes the node at `path` addressable while the hold that `completion` receives exists.
    package func hold(
        _ path: String, then completion: @escaping (Result<NodeHold, ClientError>) -> Void
    ) {
        open(path) { [returns = shared.returns] result in
            completion(result.map { NodeHold($0, returns) })
        }
    }

    /// The type of the reactor at an open node, as the daemon names it.
    package func reactorName(of node: NodeID) -> String { requests.value.reactorName(of: node) }

    /// Asks a question; the answer is one CBOR item, or the bytes that ``Question`` documents.
    package func ask(
        _ ask: Question, then completion: @escaping (Result<[UInt8], ClientError>) -> Void
    ) {
        if let error = link.value.end { return completion(.failure(error)) }
        send(requests.value.ask(ask, then: completion))
    }

    /// Pings the daemon, whose answer also brings every mirror up to date.
    public func ping(then completion: @escaping (Result<Void, ClientError>) -> Void) {
        if let error = link.value.end { return completion(.failure(error)) }
        send(requests.value.ping(then: completion))
    }

    private func send(_ question: UInt64) {
        guard link.value.isLive else { return }
        requests.value.sendQuestion(question, to: &outbox.value.queue.writer)
    }

    /// The canonical spelling of a path; text that is not a path is returned unchanged.
    static func canonical(_ path: String) -> String {
        (try? SlicePath(path))?.description ?? path
    }
}
