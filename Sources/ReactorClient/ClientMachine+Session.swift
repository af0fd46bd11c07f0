public import ReactorCore

// MARK: - What the shell tells
extension ClientMachine {
    /// Begins to connect; `completion` is told once whether that succeeded.
    public func start(_ completion: ((Result<Welcome, ClientError>) -> Void)? = nil) {
        guard stage == .idle else {
            completion?(.failure(.ended))
            return
        }
        starting = completion
        stage = .connecting
        outputs.append(.connect)
    }

    /// The socket is open.
    public func connected() {
        guard stage == .connecting else { return }
        stage = .greeting
        connectionCount += 1
        closing = nil
        fault = nil
        markSequence = 0
        let frame = outgoing.beginFrame(.hello, number: Hello.magic)
        Hello(
            session: session, confirmed: pending.contiguous, applied: applied,
            program: shortProgram,
            epoch: session == nil ? nil : knownEpoch, since: session == nil ? nil : sessionSince
        ).encode(into: &outgoing)
        outgoing.endFrame(at: frame)
        outputs.append(.setTimer(options.handshakeDeadline))
    }

    /// Nobody accepted.
    public func connectFailed(_ tried: [ClientError.Attempt]) {
        guard stage == .connecting else { return }
        if welcome == nil, !options.keepsTrying,
            !(tried.last?.obstacle == .busy && waitsOutBusy())
        {
            return fail(.unreachable(tried: tried))
        }
        pause()
    }

    /// The socket is closed, by the daemon or by the system.
    public func disconnected() {
        guard stage == .greeting || stage == .live else { return }
        loseConnection()
    }

    /// The time that was asked for has passed.
    public func timerFired() {
        switch stage {
        case .pausing:
            stage = .connecting
            outputs.append(.connect)
        case .greeting:
            dropConnection(.silence("no welcome within the handshake deadline"))
        case .idle, .connecting, .live, .ended: break
        }
    }

    /// Ends the client at once: the session is given up, actions without outcome are unknown.
    ///
    /// With a journal that holds such actions the session is left as it is, for the next run to go on
    /// with.
    public func close() {
        if case .ended = stage { return }
        let legacy = leaveJournal()
        // because the next run goes on with the session, and has it carry out what the file has
        if legacy == .nothing, stage == .live { outgoing.header(FrameHeader(kind: .goodbye)) }
        // because nothing leaves that the file may not have
        if legacy == .some { outgoing.removeAll() }
        fail(.ended, leaving: legacy)
    }

    /// Tells `completion` when every action that was taken before has an outcome.
    public func drain(_ completion: @escaping () -> Void) {
        if case .ended = stage { return completion() }
        let last = pending.next - 1
        guard pending.contiguous < last else { return completion() }
        draining.append((last, completion))
    }

    private var shortProgram: String {
        guard options.program.utf8.count > 64 else { return options.program }
        return String(decoding: Array(options.program.utf8.prefix(60)), as: UTF8.self)
    }
}

// MARK: - Sessions
extension ClientMachine {
    /// The daemon answered the hello.
    func greet(_ body: Span<UInt8>) throws(ClientFault) {
        let greeting: Welcome
        do throws(WireError) {
            greeting = try Welcome(wireBytes: body)
        } catch {
            throw ClientFault("welcome: \(error)")
        }
        guard greeting.version == Hello.version else {
            throw ClientFault("welcome to version \(greeting.version), not \(Hello.version)")
        }
        outputs.append(.stopTimer)
        let isFirst = welcome == nil
        let isResumed = greeting.isResumed && session != nil
        // because a program that goes on with an earlier one's session goes on with its numbers; its
        // journal knows them
        if isResumed, isFirst, journal == nil { goOn(after: greeting.ordinal) }
        // because outcomes that were held back are of the history that is known so far
        if isResumed {
            held = []
        } else if !isFirst || session != nil {
            // because effects end with their daemon, which another epoch is of another
            let isOther = greeting.epoch != knownEpoch
            giveUpSent(isOther ? .historyLost : .sessionExpired, haveEffectsEnded: isOther)
        }
        // because the completions above may have ended the client
        guard stage == .greeting else { return }
        noteHistory(greeting)
        welcome = greeting
        session = greeting.session
        // A history that was cut need not hold what was applied before.
        if !isResumed || greeting.epoch != knownEpoch { applied = 0 }
        knownEpoch = greeting.epoch
        if !isResumed { sessionSince = greeting.sequence }
        journal?.note(session: greeting.session, epoch: greeting.epoch, since: sessionSince)
        bodyBytesMax = Int(greeting.limits.frameBytesMax)
        busyCount = 0
        confirmed = pending.contiguous
        if isResumed { processed = max(processed, greeting.ordinal) }
        stage = .live
        reopen()
        resubscribe()
        resend()
        askAgain()
        window = max(1, min(options.inFlightMax, Int(greeting.limits.inFlightMax)))
        releaseWaiting()
        renewLeases()
        tellLostPast()
        tellPhase()
        if let starting {
            self.starting = nil
            starting(.success(greeting))
        }
    }

    /// Closes the socket because of what the daemon did.
    func dropConnection(_ fault: ClientFault) {
        guard stage == .greeting || stage == .live else { return }
        self.fault = fault
        leaveConnection()
    }

    /// Closes the socket from this side.
    func leaveConnection() {
        outputs.append(.close)
        loseConnection()
    }

    private func loseConnection() {
        let wasLive = stage == .live
        window = 0
        partial = []
        if wasLive { _ = takeOutgoing() }
        // because a journal that cannot be written ends the client
        if case .ended = stage { return }
        outgoing.removeAll()
        dropConnectionRequests()
        loseLeases()
        suspendSlices()
        let isFirst = welcome == nil
        if let error = finalError(isFirst: isFirst) { return fail(error) }
        if wasLive, fault == nil { attempts = 0 }
        pause()
        if wasLive { tellPhase() }
    }

    /// Tells that ``phase`` has changed.
    private func tellPhase() {
        onPhase?(phase)
        let waiting = phaseWaiters
        phaseWaiters = []
        for waiter in waiting { wait(until: waiter.isMet, then: waiter.then) }
    }

    /// Calls `then` as soon as `isMet` is true of the phase and the number of the last connection;
    /// when the client ends as well.
    func wait(
        until isMet: @escaping (ClientPhase, UInt64) -> Bool, then: @escaping () -> Void
    ) {
        if case .ended = stage { return then() }
        guard !isMet(phase, connectionCount) else { return then() }
        phaseWaiters.append(PhaseWaiter(isMet: isMet, then: then))
    }

    /// Why another attempt would end the same way, if it would.
    private func finalError(isFirst: Bool) -> ClientError? {
        if let closing {
            switch closing.code {
            case .framing, .state, .decode, .version:
                return .closed(closing.code, closing.message)
            case .sessionBusy:
                busyCount += 1
                // because nobody else has the journal: the daemon has yet to notice that an earlier
                // run is gone
                if journal != nil, busyCount <= 20 { return nil }
                if busyCount > 5 { session = nil }
            case .busy: if isFirst, waitsOutBusy() { return nil }
            default: break
            }
        }
        guard isFirst, !options.keepsTrying else { return nil }
        if let closing { return .closed(closing.code, closing.message) }
        guard let fault else { return .unanswered("it closed the connection before the welcome") }
        return fault.isSilence ? .unanswered(fault.text) : .daemonFault(fault.text)
    }

    /// Whether a client that has no welcome yet tries once more though the daemon was too busy.
    private func waitsOutBusy() -> Bool {
        guard busyPauses < options.busyPatience else { return false }
        isWaitingOutBusy = true
        return true
    }

    /// Nanoseconds of the longest pause of a client that waits for a crowd to pass.
    private static let busyPauseMax: UInt64 = 400_000_000

    /// Waits a random while, longer on average with every attempt in a row.
    func pause() {
        stage = .pausing
        let shortest = max(1, min(options.pauseMin, options.pauseMax))
        let doublings = UInt64(min(attempts + 1, 20))
        // A crowd is gone in a moment, and its patience is short: many small pauses.
        let pauseMax = min(options.pauseMax, isWaitingOutBusy ? Self.busyPauseMax : .max)
        let longest = shortest > pauseMax >> doublings ? pauseMax : shortest << doublings
        attempts += 1
        // because `longest` is less than `shortest` where `pauseMax` is 0
        let choices = max(longest, shortest) - shortest + 1
        lastPause = shortest + random() % choices
        if isWaitingOutBusy { busyPauses += lastPause }
        isWaitingOutBusy = false
        outputs.append(.setTimer(lastPause))
    }

    /// Ends the client for good.
    ///
    /// `legacy` says what a journal has of the actions without an outcome that it was parted with
    /// already.
    func fail(_ error: ClientError, leaving legacy: Legacy = .nothing) {
        let legacy = journal == nil ? legacy : leaveJournal()
        let wasConnected = stage == .greeting || stage == .live
        stage = .ended(error)
        window = 0
        if wasConnected { outputs.append(.close) }
        outputs.append(.stopTimer)
        giveUpSent(legacy == .all ? .kept : .ended)
        giveUpWaiting(error, legacy)
        failRequests(error)
        failChecks(error)
        failLeases(error)
        failSlices(error)
        if let starting {
            self.starting = nil
            starting(.failure(error))
        }
        let waiters = draining
        draining = []
        for waiter in waiters { waiter.then() }
        board.news.finish()
        tellPhase()
    }
}
