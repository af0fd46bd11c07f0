import DequeModule
public import ReactorBytes
public import ReactorCore

// MARK: - Actions
extension ClientMachine {
    /// Sends an action; `completion` is told what became of it.
    ///
    /// Actions apply in the order of these calls. Where the window is full, or there is no
    /// connection, the action waits.
    /// *Throws*: when too much waits already, or the client has ended; then nothing was sent.
    @inlinable
    public func dispatch<Action: WireCodable>(
        _ action: Action, to node: NodeID, then completion: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        guard lane.value.isOpen else {
            return try submit(.dispatch, to: node, then: completion) { action.encode(into: &$0) }
        }
        let start = lane.value.outgoing.beginFrame(
            .dispatch, id: node.rawValue, number: lane.value.pending.next)
        lane.value.isEncoding = true
        action.encode(into: &lane.value.outgoing)
        lane.value.isEncoding = false
        lane.value.outgoing.endFrame(at: start)
        guard lane.value.fits(from: start) else {
            throw refuseLength(&lane.value.outgoing, start, bodyBytesMax: bodyBytesMaxNow)
        }
        lane.value.pending.append(completion)
        lane.value.pending.noteSent()
    }

    /// Sends an action with conditions.
    public func dispatch<Action: WireCodable>(
        _ action: Action, to node: NodeID, _ conditions: DispatchOptions,
        then completion: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        try submit(.dispatch, flags: .options, to: node, then: completion) { writer in
            conditions.encode(into: &writer)
            action.encode(into: &writer)
        }
    }

    /// Sends an action that is encoded already.
    public func dispatch(
        encoded action: Span<UInt8>, to node: NodeID, _ conditions: DispatchOptions? = nil,
        then completion: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        // because a closure cannot capture a span
        try place(
            .dispatch, flags: conditions == nil ? [] : .options, to: node, with: action,
            then: completion
        ) { writer, action in
            conditions?.encode(into: &writer)
            writer.raw(action)
        }
    }

    /// Sends several actions as one transaction: all are applied, at one revision, or none is.
    ///
    /// `awaitsEffects` tells `completion` when the effects of all of them have ended.
    public func batch(
        _ actions: [(node: NodeID, action: WireEmbedded)], _ conditions: DispatchOptions? = nil,
        awaitsEffects: Bool = false, then completion: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        let ordinal = pending.next
        var flags: FrameFlags = conditions == nil ? [] : .options
        if awaitsEffects { flags.insert(.awaited) }
        let numbers = actions.map(\.node.rawValue)
        let told = { [unowned self] (outcome: ActionOutcome) in
            if outcome.isLost { for number in numbers { nodes.spoil(number) } }
            completion?(outcome)
        }
        try submit(.batch, flags: flags, to: NodeID(rawValue: 0), then: told) { writer in
            conditions?.encode(into: &writer)
            writer.array(count: actions.count)
            for (node, action) in actions {
                writer.array(count: 2)
                writer.unsigned(UInt64(node.rawValue))
                action.encode(into: &writer)
            }
        }
        if awaitsEffects { awaited.add(ordinal, nil) }
    }

    /// The general way of an action that nobody inlines.
    @usableFromInline
    func submit(
        _ kind: FrameKind, flags: FrameFlags = [], to node: NodeID,
        then completion: ((ActionOutcome) -> Void)?, _ encode: (inout WireWriter) -> Void
    ) throws(ClientError) {
        let nothing: [UInt8] = []
        try place(kind, flags: flags, to: node, with: nothing.span, then: completion) {
            writer, _ in encode(&writer)
        }
    }

    /// Encodes a frame to where it belongs: the connection's bytes, or those that wait.
    func place(
        _ kind: FrameKind, flags: FrameFlags, to node: NodeID, with bytes: Span<UInt8>,
        then completion: ((ActionOutcome) -> Void)?,
        _ encode: (inout WireWriter, Span<UInt8>) -> Void
    ) throws(ClientError) {
        if case .ended(let error) = stage { throw error }
        let isSent = lane.value.isOpen
        if isSent {
            let start = outgoing.beginFrame(
                kind, flags: flags, id: node.rawValue, number: pending.next)
            lane.value.isEncoding = true
            encode(&outgoing, bytes)
            lane.value.isEncoding = false
            try end(&outgoing, start, bodyBytesMax: bodyBytesMax)
        } else {
            guard waiting.count - waitingStart < options.queueBytesMax else {
                throw .queueFull(bytesMax: options.queueBytesMax)
            }
            let start = waiting.beginFrame(
                kind, flags: flags, id: node.rawValue, number: pending.next)
            lane.value.isEncoding = true
            encode(&waiting, bytes)
            lane.value.isEncoding = false
            try end(&waiting, start, bodyBytesMax: bodyBytesMax)
        }
        pending.append(completion)
        if isSent { pending.noteSent() }
    }

    private func end(
        _ writer: inout WireWriter, _ start: Int, bodyBytesMax: Int
    ) throws(ClientError) {
        writer.endFrame(at: start)
        if writer.count - start > bodyBytesMax + FrameHeader.byteCount {
            throw refuseLength(&writer, start, bodyBytesMax: bodyBytesMax)
        }
    }

    @usableFromInline var bodyBytesMaxNow: Int { bodyBytesMax }

    @usableFromInline
    func refuseLength(
        _ writer: inout WireWriter, _ start: Int, bodyBytesMax: Int
    ) -> ClientError {
        let byteCount = writer.count - start - FrameHeader.byteCount
        writer.truncate(to: start)
        return .tooLarge(byteCount: byteCount, bytesMax: bodyBytesMax)
    }

    /// Sends what waits, as far as the window has room.
    func releaseWaiting() {
        guard pending.waitingCount > 0, pending.inFlight < window else { return }
        var count = min(pending.waitingCount, window - pending.inFlight)
        pending.inFlight += count
        pending.sentEnd += UInt64(count)
        waiting.withBytes { bytes in
            var end = waitingStart
            while count > 0 {
                end += FrameHeader.byteCount + Int(bytes.word(at: end, byteCount: 4))
                count -= 1
            }
            outgoing.raw(bytes.extracting(waitingStart..<end))
            waitingStart = end
        }
        if waitingStart == waiting.count {
            waiting.removeAll()
            waitingStart = 0
        } else if waitingStart > waiting.count / 2 {
            var rest = WireWriter(capacity: waiting.count)
            waiting.withBytes { rest.raw($0.extracting(waitingStart...)) }
            waiting = rest
            waitingStart = 0
        }
    }
}

// MARK: - Outcomes
extension ClientMachine {
    /// A run of plain outcomes arrived.
    func noteRun(_ header: FrameHeader, _ body: Span<UInt8>) throws(ClientFault) {
        var cursor = WireCursor()
        guard let sequence = try? cursor.unsigned(in: body), cursor.offset == body.count else {
            throw ClientFault("a run of outcomes without its sequence")
        }
        let count = UInt64(header.id)
        try checkOrdinal(header.number, count)
        processed = max(processed, header.number &+ (count &- 1))
        lastSequence = max(lastSequence, sequence &+ (count &- 1))
        guard !mustHold else {
            return try hold(.run(ordinal: header.number, count: count, sequence: sequence))
        }
        conclude(header.number, count, sequence)
    }

    /// An outcome of one action arrived.
    func noteOutcome(_ header: FrameHeader, _ body: Span<UInt8>) throws(ClientFault) {
        let outcome: Outcome
        do throws(WireError) {
            outcome = try Outcome(wireBytes: body)
        } catch {
            throw ClientFault("outcome of action \(header.number): \(error)")
        }
        try checkOrdinal(header.number, 1)
        processed = max(processed, header.number)
        guard !mustHold else { return try hold(.single(ordinal: header.number, outcome)) }
        conclude(header.number, outcome)
    }

    func checkOrdinal(_ ordinal: UInt64, _ count: UInt64) throws(ClientFault) {
        guard ordinal > 0, count > 0, ordinal < pending.sentEnd,
            count <= pending.sentEnd - ordinal
        else {
            throw ClientFault("outcomes of \(count) actions from \(ordinal) on, never sent")
        }
    }

    func hold(_ outcome: HeldOutcome) throws(ClientFault) {
        guard held.count <= pending.inFlight + awaited.count else {
            throw ClientFault("more outcomes than actions")
        }
        held.append(outcome)
    }

    private func conclude(_ ordinal: UInt64, _ count: UInt64, _ sequence: UInt64) {
        let epoch = welcome?.epoch ?? 0
        applied = max(applied, ordinal &+ count &- 1)
        // because a daemon that repeats old ordinals shall not cost a walk over all of them
        var index =
            pending.stragglers.isEmpty && pending.first > ordinal
            ? min(count, pending.first - ordinal) : 0
        // because an action that is waited for can stand anywhere among others
        let hasAwaited = !awaited.isEmpty
        while index < count {
            if !hasAwaited || !keep(ordinal &+ index, appliedAt: sequence &+ index),
                case .told(let completion) = pending.take(ordinal &+ index)
            {
                completion(
                    .applied(Revision(epoch: epoch, sequence: sequence &+ index), reply: nil))
            }
            index &+= 1
        }
        attempts = 0
    }

    private func conclude(_ ordinal: UInt64, _ outcome: Outcome) {
        if case .rejected(FaultCode.notFound.rawValue, _) = outcome { noteNotFound(ordinal) }
        if case .applied = outcome { applied = max(applied, ordinal) }
        let outcome = ActionOutcome(outcome, epoch: welcome?.epoch ?? 0)
        if !awaited.isEmpty, keep(outcome, of: ordinal) { return }
        if case .told(let completion) = pending.take(ordinal) { completion(outcome) }
    }

    /// Nothing stands any more where an action went: who opens that next asks anew.
    private func noteNotFound(_ ordinal: UInt64) {
        let straggler = pending.stragglers[ordinal]?.frame
        guard pending.isPending(ordinal), let frame = straggler ?? sent.frame(of: ordinal),
            let header = try? FrameHeader.decode(
                frame.span, at: 0, frameBytesMax: WireLimits.daemonFrameBytesMax),
            header.kind == FrameKind.dispatch.rawValue
        else { return }
        nodes.spoil(header.id)
    }

    /// Whether outcomes have to wait for updates.
    var mustHold: Bool { isResyncing && (isCatchingUp || hasStaged) }

    /// Tells the outcomes that were held back.
    func releaseHeld() {
        let outcomes = held
        held = []
        for outcome in outcomes {
            switch outcome {
            case .run(let ordinal, let count, let sequence): conclude(ordinal, count, sequence)
            case .single(let ordinal, let outcome): conclude(ordinal, outcome)
            case .done(let ordinal): end(ordinal)
            }
        }
    }

    /// After outcomes: forgets what need not be sent again, sends what waited, and now and then
    /// tells the daemon what it may forget.
    func settleActions() {
        if pending.isHeldUp {
            while pending.isHeldUp, let frame = sent.frame(of: pending.first) {
                pending.setAside(frame)
            }
        }
        sent.forget(upTo: pending.first &- 1)
        releaseWaiting()
        if pending.contiguous &- confirmed >= UInt64(max(window / 2, 1)), stage == .live {
            confirmed = pending.contiguous
            outgoing.header(FrameHeader(kind: .confirm, number: confirmed))
        }
        if !draining.isEmpty { tellDrained() }
    }

    private func tellDrained() {
        let contiguous = pending.contiguous
        while let first = draining.first, first.ordinal <= contiguous {
            draining.removeFirst()
            first.then()
        }
    }
}

// MARK: - When connections come and go
extension ClientMachine {
    /// Writes again what has no outcome, with the same ordinals.
    func resend() {
        for ordinal in pending.stragglers.keys.sorted() {
            if let frame = pending.stragglers[ordinal]?.frame { outgoing.raw(frame) }
        }
        for chunk in sent.removeAll() {
            var kept: [Range<Int>] = []
            chunk.forEachAction { ordinal, range in
                if pending.isPending(ordinal), ordinal >= pending.first { kept.append(range) }
            }
            for range in kept { outgoing.raw(chunk.bytes.span.extracting(range)) }
        }
    }

    /// The session is gone, and with it the knowledge of what became of written actions.
    ///
    /// `haveEffectsEnded` says that the daemon is gone as well, and all that ran in it.
    func giveUpSent(_ reason: UnknownReason, haveEffectsEnded: Bool = false) {
        releaseHeld()
        _ = sent.removeAll()
        for ordinal in pending.stragglers.keys.sorted() {
            giveUp(ordinal, reason, haveEffectsEnded)
        }
        let end = pending.sentEnd
        var ordinal = pending.first
        while ordinal < end {
            giveUp(ordinal, reason, haveEffectsEnded)
            ordinal &+= 1
        }
        confirmed = pending.contiguous
    }

    private func giveUp(
        _ ordinal: UInt64, _ reason: UnknownReason, _ haveEffectsEnded: Bool
    ) {
        let known = haveEffectsEnded ? awaited.outcome(of: ordinal) : nil
        conclude(ordinal, finally: known?.withoutOwner ?? .unknown(reason))
    }

    /// Gives the actions that wait the numbers behind `ordinal`; none was sent yet.
    func goOn(after ordinal: UInt64) {
        pending.shift(by: ordinal)
        awaited.shift(by: ordinal)
        for index in draining.indices { draining[index].ordinal += ordinal }
        guard waiting.count > waitingStart else { return }
        var renumbered = WireWriter(capacity: waiting.count)
        waiting.withBytes { bytes in
            var start = waitingStart
            while start < bytes.count {
                let end = start + FrameHeader.byteCount + Int(bytes.word(at: start, byteCount: 4))
                guard
                    var header = try? FrameHeader.decode(
                        bytes, at: start, frameBytesMax: Int(UInt32.max))
                else { preconditionFailure("a frame of this client's own cannot be read") }
                header.number += ordinal
                renumbered.header(header)
                renumbered.raw(bytes.extracting((start + FrameHeader.byteCount)..<end))
                start = end
            }
        }
        waiting = renumbered
        waitingStart = 0
    }

    /// The client has ended: what waits was never sent, and is at most in the journal.
    func giveUpWaiting(_ error: ClientError, _ legacy: Legacy) {
        let outcome: ActionOutcome =
            switch legacy {
            case .nothing: .failed(message: "never sent: \(error)")
            case .all: .unknown(.kept)
            case .some: .unknown(.ended)
            }
        let end = pending.next
        pending.inFlight += pending.waitingCount
        pending.sentEnd = end
        waiting.removeAll()
        waitingStart = 0
        var ordinal = pending.first
        while ordinal < end {
            conclude(ordinal, finally: outcome)
            ordinal &+= 1
        }
    }
}
