import ReactorBytes
import ReactorCore
import ReactorThreads

// MARK: - From bytes to frames
extension ClientMachine {
    /// Reads bytes from the socket.
    ///
    /// *Owner*: `bytes` is lent for the call; the start of an unfinished frame is copied.
    package func receive(_ bytes: Span<UInt8>) {
        var start = 0
        while start < bytes.count, inbound.value.hasPartial, isConnected {
            start = inbound.value.complete(from: bytes, at: start)
            guard inbound.value.isReady else { break }
            let held = inbound.value.takePartial()
            let (partial, offset) = (held.bytes, held.start)
            let progress = read(partial.span, from: offset)
            if isConnected { inbound.value.restore(held, after: progress) }
        }
        if start < bytes.count, isConnected {
            let progress = read(bytes, from: start)
            if isConnected { inbound.value.keep(bytes, after: progress) }
        }
        settle()
    }

    private var isConnected: Bool { link.value.isConnected }

    /// Handles the complete frames from `first` on.
    private func read(_ bytes: Span<UInt8>, from first: Int) -> FrameProgress {
        var progress = FrameProgress(end: first)
        inbound.value.beginSpan()
        do throws(ClientFault) {
            while isConnected {
                passDeltas(bytes, &progress)
                guard let header = try header(bytes, at: progress.end) else {
                    progress.needed = FrameHeader.byteCount
                    break
                }
                let start = progress.end &+ FrameHeader.byteCount
                let end = start &+ Int(header.length)
                guard end <= bytes.count else {
                    // A frame of an unknown kind may claim any length: refuse it before its end
                    // arrives.
                    try checkKind(header, at: progress.end)
                    progress.needed = end &- progress.end
                    break
                }
                try handle(header, bytes, start..<end)
                progress.end = end
            }
            if isConnected { try inbound.value.endSpan(bytes, at: progress.end) }
        } catch {
            dropConnection(error)
        }
        return progress
    }

    private func passDeltas(_ bytes: Span<UInt8>, _ progress: inout FrameProgress) {
        guard link.value.isLive else { return }
        let end = following.value.admitDeltas(bytes, from: progress.end)
        if end > progress.end {
            inbound.value.stage(from: progress.end)
            progress.end = end
        }
    }

    private func header(
        _ bytes: Span<UInt8>, at offset: Int
    ) throws(ClientFault) -> FrameHeader? {
        do throws(FrameError) {
            return try FrameHeader.decode(
                bytes, at: offset, frameBytesMax: options.frameBytesMax)
        } catch {
            throw ClientFault("\(error)")
        }
    }

    private func handle(
        _ header: FrameHeader, _ bytes: Span<UInt8>, _ range: Range<Int>
    ) throws(ClientFault) {
        // Nearly every frame is a delta.
        if link.value.isLive {
            if header.kind == FrameKind.applied.rawValue {
                return try receiveRun(header, bytes.extracting(range))
            }
            if header.kind == FrameKind.delta.rawValue {
                return try receiveUpdate(.delta, header, at: range.lowerBound)
            }
        }
        guard let kind = FrameKind(rawValue: header.kind), kind.isFromDaemon else {
            return try checkKind(header, at: range.lowerBound - FrameHeader.byteCount)
        }
        let body = bytes.extracting(range)
        switch (link.value.stage, kind) {
        case (_, .closing): receiveClosing(body)
        case (.greeting, .welcome): try greet(welcome(body))
        case (.live, .mark): try receiveMark(header, bytes, upTo: range.lowerBound)
        case (.live, .snapshot), (.live, .value), (.live, .delta):
            try receiveUpdate(kind, header, at: range.lowerBound)
        case (.live, .outcome): try receiveOutcome(header, body)
        case (.live, .applied): try receiveRun(header, body)
        case (.live, .done): try receiveDone(header)
        case (.live, .lag):
            inbound.value.lag()
            following.value.lag()
        case (.live, .gone): receiveGone(header.id)
        case (.live, .notice):
            if let notice = try? Notice(wireBytes: body) { report(notice, header) }
        case (.live, .opened), (.live, .refused), (.live, .subscribed), (.live, .answer),
            (.live, .pong):
            try receiveAnswer(kind, header, body)
        default: throw ClientFault("a \(kind) frame while \(link.value.stage)")
        }
    }

    private func welcome(_ body: Span<UInt8>) throws(ClientFault) -> Welcome {
        do throws(WireError) {
            return try Welcome(wireBytes: body)
        } catch {
            throw ClientFault("welcome: \(error)")
        }
    }

    private func checkKind(_ header: FrameHeader, at offset: Int) throws(ClientFault) {
        if FrameKind.isSentByDaemon(header.kind) { return }
        throw ClientFault("\(FrameError(.unknownKind(header.kind), at: offset))")
    }

    private func receiveClosing(_ body: Span<UInt8>) {
        link.value.part(
            (try? Closing(wireBytes: body))
                ?? Closing(.framing, "the daemon gave no readable reason"))
        // A daemon sends no further frame: do not wait until it closes the socket.
        leaveConnection()
    }

    /// Reports the daemon's news of an action whose outcome has arrived before.
    private func report(_ notice: Notice, _ header: FrameHeader) {
        let origin = Origin(client: welcome?.client ?? 0, ordinal: header.number)
        shared.news.add(ClientNotice(notice, of: origin))
        onNotice?(header.number, notice)
    }

    /// Runs the work that waited for the frames of this call: outcomes, checks, drains.
    func settle() {
        commitDeferred()
        if inbound.value.isResyncing, !mustHold, link.value.isLive {
            inbound.value.resync(false)
            for sink in following.value.liveSinks { sink.setLive(true) }
        }
        if inbound.value.hasHeld, !mustHold { releaseHeld() }
        if link.value.isLive {
            for completion in outbox.value.settle() { completion() }
        }
        if link.value.lostPast != nil { reportLostPast() }
        // A slice that was catching up may be current now.
        if !checks.value.isEmpty { settleChecks() }
    }

    // MARK: Outcomes

    /// Concludes the actions of a frame that reports a run of them as applied.
    private func receiveRun(_ header: FrameHeader, _ body: Span<UInt8>) throws(ClientFault) {
        var cursor = WireCursor()
        guard let sequence = try? cursor.unsigned(in: body), cursor.offset == body.count else {
            throw ClientFault("a run of outcomes without its sequence")
        }
        let count = UInt64(header.id)
        try outbox.value.check(header.number, count)
        outbox.value.advance(to: header.number &+ (count &- 1))
        link.value.reach(sequence &+ (count &- 1))
        guard !mustHold else {
            return try hold(.run(ordinal: header.number, count: count, sequence: sequence))
        }
        concludeRun(header.number, count, sequence)
    }

    /// Concludes the action of a frame with one outcome.
    private func receiveOutcome(_ header: FrameHeader, _ body: Span<UInt8>) throws(ClientFault) {
        let outcome: Outcome
        do throws(WireError) {
            outcome = try Outcome(wireBytes: body)
        } catch {
            throw ClientFault("outcome of action \(header.number): \(error)")
        }
        try outbox.value.check(header.number, 1)
        outbox.value.advance(to: header.number)
        guard !mustHold else { return try hold(.single(ordinal: header.number, outcome)) }
        conclude(header.number, outcome)
    }

    /// Concludes an action whose effects have ended.
    private func receiveDone(_ header: FrameHeader) throws(ClientFault) {
        try outbox.value.check(header.number, 1)
        guard !mustHold else { return try hold(.done(ordinal: header.number)) }
        deliver(outbox.value.endEffects(of: header.number))
    }

    /// True while outcomes must wait for updates.
    private var mustHold: Bool {
        inbound.value.isResyncing && (following.value.isCatchingUp || inbound.value.hasStaged)
    }

    private func hold(_ outcome: Inbound.HeldOutcome) throws(ClientFault) {
        try inbound.value.hold(outcome, countMax: outbox.value.outcomeCountMax)
    }

    private func concludeRun(_ ordinal: UInt64, _ count: UInt64, _ sequence: UInt64) {
        let epoch = link.value.epoch
        let run = outbox.value.apply(ordinal, count)
        var index = run.concludedCount
        while index < count {
            let revision = Revision(epoch: epoch, sequence: sequence &+ index)
            if run.hasListeners {
                let outcome = ActionOutcome.applied(revision, reply: nil)
                deliver(outbox.value.conclude(ordinal &+ index, outcome))
            } else if let completion = outbox.value.takeCompletion(ordinal &+ index) {
                completion(.applied(revision, reply: nil))
            }
            index &+= 1
        }
        link.value.makeProgress()
    }

    private func conclude(_ ordinal: UInt64, _ outcome: Outcome) {
        switch outcome {
        case .rejected(let code, _):
            for node in outbox.value.lostNodes(of: ordinal, rejectedWith: code) {
                requests.value.invalidate(node)
            }
        case .applied: outbox.value.apply(ordinal)
        case .accepted, .failed: break
        }
        let outcome = ActionOutcome(outcome, epoch: link.value.epoch)
        deliver(outbox.value.conclude(ordinal, outcome))
    }

    /// Calls the completion of a delivery.
    private func deliver(_ delivery: Delivery?) {
        guard let delivery else { return }
        if delivery.isRecovered {
            for node in outbox.value.takeRecoveredNodes() { requests.value.release(node) }
            let origin = Origin(client: welcome?.client ?? 0, ordinal: delivery.ordinal)
            shared.news.add(.recovered(origin, delivery.outcome))
        }
        delivery.deliver()
    }

    /// Concludes the actions whose outcomes were held back.
    private func releaseHeld() {
        for outcome in inbound.value.takeHeld() {
            switch outcome {
            case .run(let ordinal, let count, let sequence): concludeRun(ordinal, count, sequence)
            case .single(let ordinal, let outcome): conclude(ordinal, outcome)
            case .done(let ordinal): deliver(outbox.value.endEffects(of: ordinal))
            }
        }
    }

    /// Gives up the actions that were sent: the session is lost, and their outcomes stay unknown.
    func giveUpSent(_ reason: UnknownReason, haveEffectsEnded: Bool = false) {
        releaseHeld()
        for delivery in outbox.value.giveUpSent(reason, haveEffectsEnded: haveEffectsEnded) {
            deliver(delivery)
        }
    }

    /// Gives up the waiting actions, as the client ends. None was sent; at most the journal has
    /// them.
    func giveUpWaiting(_ error: ClientError, _ kept: KeptActions) {
        let outcome: ActionOutcome =
            switch kept {
            case .none: .failed(message: "never sent: \(error)")
            case .all: .unknown(.kept)
            case .uncertain: .unknown(.ended)
            }
        for delivery in outbox.value.giveUpWaiting(outcome) { deliver(delivery) }
    }

    // MARK: Updates

    private func receiveUpdate(
        _ kind: FrameKind, _ header: FrameHeader, at bodyStart: Int
    ) throws(ClientFault) {
        // Updates of a slice that the client has left may still arrive.
        guard try following.value.admit(kind, header) else { return }
        inbound.value.stage(from: bodyStart - FrameHeader.byteCount)
    }

    /// Handles a mark: the updates before it are complete.
    private func receiveMark(
        _ header: FrameHeader, _ bytes: Span<UInt8>, upTo bodyStart: Int
    ) throws(ClientFault) {
        try inbound.value.reach(header.number)
        let end = bodyStart - FrameHeader.byteCount
        if inbound.value.isResyncing, following.value.isCatchingUp {
            return try inbound.value.deferMark(bytes, at: end)
        }
        let mark = header.number
        try applyStaged(inbound.value.takeStaged(), upTo: mark)
        if let start = inbound.value.takeSpanStart() {
            try following.value.stage(bytes, start..<end, upTo: mark, ownActions)
        }
        commit(mark)
        if checks.value.hasRequests {
            checks.value.sumAnnounced(at: revision, isResyncing: inbound.value.isResyncing)
        }
    }

    private func applyStaged(_ staged: [UInt8], upTo mark: UInt64) throws(ClientFault) {
        guard !staged.isEmpty else { return }
        try following.value.stage(staged.span, 0..<staged.count, upTo: mark, ownActions)
    }

    /// Makes the updates before a kept mark visible, once no slice is catching up any more: the last
    /// may have ended instead, and the daemon sends no mark for that.
    private func commitDeferred() {
        guard inbound.value.isResyncing, !following.value.isCatchingUp,
            let (mark, staged) = inbound.value.takeDeferred()
        else { return }
        do throws(ClientFault) {
            try applyStaged(staged, upTo: mark)
            commit(mark)
        } catch {
            dropConnection(error)
        }
    }

    /// This client's own actions, whose updates have to be recognised while a mirror previews some.
    private var ownActions: Following.OwnActions? {
        guard outbox.value.hasPreviews else { return nil }
        return Following.OwnActions(
            client: welcome?.client, processed: outbox.value.processed)
    }

    /// Makes all staged updates visible, and notifies the observers of the mirrors.
    private func commit(_ sequence: UInt64) {
        let revision = Revision(epoch: link.value.epoch, sequence: sequence)
        let sinks = following.value.commit(revision, to: shared)
        link.value.makeProgress()
        carryOutFollowing()
        for sink in sinks { sink.announce() }
        shared.moved.publish()
        reportLostPast()
        if !checks.value.isEmpty { settleChecks() }
    }

    private func receiveGone(_ id: UInt32) {
        guard let path = following.value.end(id) else { return }
        requests.value.invalidate(from: path)
        leases.value.doubt(from: path)
        carryOutFollowing()
    }

    // MARK: Answers

    /// Handles the daemon's answer to a request, or its refusal.
    private func receiveAnswer(
        _ kind: FrameKind, _ header: FrameHeader, _ body: Span<UInt8>
    ) throws(ClientFault) {
        switch try requests.value.receive(kind, header, body) {
        case .none: break
        case .node(let completions, let result):
            for completion in completions { completion(result) }
        case .answer(let completion, let result): completion(result)
        case .pong(let completion, let result): completion(result)
        case .announced(let number): checks.value.announce(number)
        case .unsubscribed(let subscription, let refusal):
            let error = ClientError(refusal, to: subscription.selection.map { _ in .selection })
            following.value.remove(subscription, because: error)
            carryOutFollowing()
        case .subscribed(let subscription, let isContinued, let subscribed):
            inbound.value.dropDeferred()
            let isAwaited = try following.value.grant(
                subscription, header.id, subscribed, isContinued: isContinued,
                isLagging: inbound.value.isLagging, at: revision, epoch: link.value.epoch)
            if isAwaited { inbound.value.resync() }
            carryOutFollowing()
        }
    }

    // MARK: Slices

    /// Starts to follow the slice at `path`, or a selection of it, for `sink`.
    func follow(
        _ path: String, _ mode: SubscriptionMode, _ sink: any SliceSink,
        selecting selection: Selection? = nil
    ) {
        if let error = link.value.end { return sink.fail(error) }
        following.value.follow(Self.canonical(path), mode, sink, selecting: selection)
        carryOutFollowing()
    }

    /// Carries out the effects of ``Following``: its frames to the daemon, and the sinks that end.
    func carryOutFollowing() {
        let effects = following.value.takeEffects()
        if effects.isEmpty { return }
        if link.value.isLive {
            for id in effects.unsubscribed {
                outbox.value.queue.writer.header(FrameHeader(kind: .unsubscribe, id: id))
            }
            for path in effects.asked { askTypes(path) }
            for subscription in effects.wanted where following.value.contains(subscription) {
                requests.value.subscribe(
                    subscription, subscription.wish(at: revision),
                    to: &outbox.value.queue.writer)
            }
        }
        for (sink, error) in effects.ended { sink.fail(error) }
    }

    // MARK: Figures

    /// Figures of a machine's parts, for tests.
    struct Figures {
        /// Ordinal up to which every outcome has arrived.
        var contiguous: UInt64
        /// Actions whose effects are awaited.
        var awaitedCount: Int
        /// True while a mirror shows an action without an outcome.
        var hasPreviews: Bool
        /// True while the journal lacks an action that it has to keep.
        var mustKeep: Bool
        /// Limit of actions under way.
        var window: Int
        var session: [UInt8]?
        /// Attempts to connect since the last successful one.
        var attempts: Int
        /// Length of the last pause, in nanoseconds.
        var lastPause: UInt64
        var hasLeases: Bool
    }

    var figures: Figures {
        Figures(
            contiguous: outbox.value.contiguous, awaitedCount: outbox.value.awaitedCount,
            hasPreviews: outbox.value.hasPreviews, mustKeep: outbox.value.mustKeep,
            window: outbox.value.queue.window, session: link.value.session.secret,
            attempts: link.value.pauses.attempts, lastPause: link.value.pauses.last,
            hasLeases: !leases.value.isEmpty)
    }
}
