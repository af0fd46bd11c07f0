import ReactorBytes
import ReactorCore
import ReactorWire

// MARK: - Runs of plain actions
extension Server {
    /// Carries out the plain actions that stand one after the other from `first` on, and says where
    /// the first other frame starts.
    ///
    /// Nearly every frame is such an action: without options, of the next ordinal, to an open node.
    /// What is the same for all of them is looked up once. All others are left to the general way.
    func dispatchRun(
        _ bytes: Span<UInt8>, from first: Int, of connection: Connection
    ) -> Int {
        guard let session = connection.session, admission == .all, mayWait(session),
            !watch.suspects(session)
        else { return first }
        var offset = first
        var run = AppliedRun(
            ordinal: session.ordinal &+ 1, sequence: tree.turn.sequence &+ 1, count: 0)
        let countMax = UInt64(max(0, limits.inFlightMax - connection.inFlight))
        var last: (id: UInt32, node: AnyNode)?
        var aliases: [NodeAlias] = []
        var end: (failure: DispatchResult, range: Range<Int>)?
        tree.begin(by: connection.caller)
        let page = watch.begin(session)
        while run.count < countMax,
            let frame = PlainFrame(
                .dispatch, in: bytes, at: offset, frameBytesMax: limits.frameBytesMax),
            // because the ordinal after the largest is 0, which is none
            frame.number == run.ordinal &+ run.count, frame.number > 0
        {
            if last?.id != frame.id {
                guard let node = connection.node(frame.id) else { break }
                last = (frame.id, node)
                if keepsHistory { aliases.append(NodeAlias(id: frame.id, node: node.number)) }
            }
            guard let node = last?.node else { break }
            page?.note(frame.number)
            let result = tree.step(node, bytes.extracting(frame.range), ordinal: frame.number)
            if let result {
                end = (result, offset..<frame.range.upperBound)
                offset = frame.range.upperBound
                break
            }
            offset = frame.range.upperBound
            run.count &+= 1
        }
        watch.end()
        note(run, session, connection)
        connection.receivedBytes &+= UInt64(offset &- first)
        if offset > first { countActionBytes(offset &- first, of: connection) }
        if keepsHistory {
            let runEnd = end?.range.lowerBound ?? offset
            note(run, aliases, bytes.extracting(first..<runEnd), session, connection)
        }
        if let end {
            let ordinal = run.ordinal &+ run.count
            if keepsHistory {
                let frame = bytes.extracting(end.range)
                noteArrival(
                    of: ordinal, aliases.suffix(1), frame, end.failure, session, connection)
            }
            conclude(end.failure, of: ordinal, session, connection)
        }
        return offset
    }

    /// Takes note of a run of plain actions that was applied.
    private func note(_ run: AppliedRun, _ session: Session, _ connection: Connection) {
        guard run.count > 0 else { return }
        session.ordinal = run.last
        let count = Int(run.count)
        stats.actions &+= run.count
        connection.turnActions &+= count
        connection.inFlight &+= count
        noteApplied(run, session, connection)
    }

    /// Ends a run with the action that was not plain.
    private func conclude(
        _ result: DispatchResult, of ordinal: UInt64, _ session: Session, _ connection: Connection
    ) {
        session.ordinal = ordinal
        countAction(of: connection)
        conclude(result, ordinal, session, connection)
    }
}

extension Connection {
    /// The open nodes that a batch names, each once; as far as the batch can be read.
    fileprivate func aliases(in body: Span<UInt8>, hasOptions: Bool) -> [NodeAlias] {
        var aliases: [NodeAlias] = []
        var seen: Set<UInt64> = []
        do throws(WireError) {
            var cursor = WireCursor()
            if hasOptions { try cursor.skip(in: body) }
            var list = try cursor.openArray(in: body)
            while try cursor.nextElement(in: body, &list) {
                var pair = try cursor.openArray(in: body)
                guard try cursor.nextElement(in: body, &pair) else { break }
                let id = try cursor.unsigned(in: body)
                if seen.insert(id).inserted, let node = node(UInt32(clamping: id)) {
                    aliases.append(NodeAlias(id: UInt32(clamping: id), node: node.number))
                }
                while try cursor.nextElement(in: body, &pair) { try cursor.skip(in: body) }
            }
        } catch {
            // because the batch is refused, and what it may have named concerns nobody
            return aliases
        }
        return aliases
    }

    /// The open node that a client knows by `id`.
    fileprivate func node(_ id: UInt32) -> AnyNode? {
        guard Int(id) < lane.value.nodes.count, let node = lane.value.nodes[Int(id)], !node.isGone
        else { return nil }
        return node
    }
}

// MARK: - Actions
extension Server {
    /// Makes a node addressable by a number of the client's choice.
    func open(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) {
        let request: Open
        do throws(WireError) {
            request = try Open(wireBytes: body)
        } catch {
            return refuse(header, Refusal(.decode, "open: \(error)"), of: connection)
        }
        guard header.id < UInt32(limits.nodesPerConnectionMax) else {
            let text = "id \(header.id) is not below nodesPerConnectionMax "
            return refuse(
                header, Refusal(.quota, text + "\(limits.nodesPerConnectionMax)"), of: connection)
        }
        switch find(request.path) {
        case .failure(let refusal): refuse(header, refusal, of: connection)
        case .success((let node, let field)):
            guard field.isEmpty else {
                return refuse(header, notFound(request.path, node, field), of: connection)
            }
            let index = Int(header.id)
            while connection.nodes.count <= index { connection.nodes.append(nil) }
            openings.move(
                NodeOpenings.Place(connection: connection.id, index: index),
                from: connection.nodes[index], to: node)
            connection.nodes[index] = node
            let opened = Opened(
                reactor: node.reactorName, fingerprint: node.fingerprint, sequence: node.sequence)
            reply(to: connection) { writer in
                let frame = writer.beginFrame(.opened, id: header.id, number: header.number)
                opened.encode(into: &writer)
                writer.endFrame(at: frame)
            }
        }
    }

    /// Carries out one action and notes its outcome.
    func dispatch(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) {
        guard let session = connection.session else { return }
        let ordinal = header.number
        guard ordinal > session.ordinal else {
            return repeatOutcome(header, session, to: connection)
        }
        session.ordinal = ordinal
        countAction(of: connection)
        countActionBytes(FrameHeader.byteCount + body.count, of: connection)
        let aliases = aliases(header.id, of: connection)
        let result = watching(ordinal, of: session) {
            carryOut(header, body, session, connection)
        }
        note(header, body, aliases, result, session, connection)
        conclude(result, header, session, connection)
    }

    /// Carries out an action such that the next run of the daemon knows of it if this one ends
    /// meanwhile; one that is known to have ended several is refused.
    private func watching(
        _ ordinal: UInt64, of session: Session, _ carryOut: () -> DispatchResult
    ) -> DispatchResult {
        guard !watch.isPoisoned(ordinal, of: session) else {
            return .failed(
                .rejected(
                    Rejection(
                        .poisoned,
                        "the daemon ended \(ActionWatch.deathsMax) times while it carried this "
                            + "action out: it is not tried again; `reactorctl log` shows it")))
        }
        watch.begin(session)?.note(ordinal)
        let result = carryOut()
        watch.end()
        desk.value.watch.acquit(ordinal, of: session)
        return result
    }

    /// Which node a number stands for, for the journal.
    private func aliases(_ id: UInt32, of connection: Connection) -> [NodeAlias] {
        guard keepsHistory, let node = connection.node(id) else { return [] }
        return [NodeAlias(id: id, node: node.number)]
    }

    /// Carries out an action, if nothing speaks against it.
    private func carryOut(
        _ header: FrameHeader, _ body: Span<UInt8>, _ session: Session, _ connection: Connection
    ) -> DispatchResult {
        if let refusal = quota(of: session, isAwaited: header.flags.contains(.awaited)) {
            return .failed(.rejected(refusal))
        }
        guard let node = connection.node(header.id) else {
            let rejection = Rejection(.notFound, "node \(header.id) is not open or is gone")
            return .failed(.rejected(rejection))
        }
        return carryOut(header, body, at: node, connection, mayWait: mayWait(session))
    }

    /// Carries out an action of the general way, options and all.
    private func carryOut(
        _ header: FrameHeader, _ body: Span<UInt8>, at node: AnyNode, _ connection: Connection,
        mayWait: Bool
    ) -> DispatchResult {
        let (caller, ordinal) = (connection.caller, header.number)
        guard admission == .all else { return shrink(header, body, at: node, connection, mayWait) }
        guard header.flags.contains(.options) else {
            return tree.dispatch(
                to: node, body, by: caller, ordinal: ordinal, mayWait: mayWait)
        }
        do throws(StepFailure) {
            let (offset, cancel) = try checkConditions(body, of: node, connection)
            guard let cancel else {
                return tree.dispatch(
                    to: node, body, from: offset, by: caller, ordinal: ordinal, mayWait: mayWait)
            }
            return tree.dispatch(
                to: node, body, from: offset, by: caller, ordinal: ordinal, cancel: cancel,
                mayWait: mayWait)
        } catch {
            return .failed(error)
        }
    }

    /// Counts an action in flight; stops reading from a client that has more than it was told.
    private func countAction(of connection: Connection) {
        stats.actions &+= 1
        connection.turnActions &+= 1
        connection.inFlight &+= 1
        if connection.inFlight > limits.inFlightMax { pauseReading(connection) }
    }

    /// Whether a session's action may leave its answer for later. One that may not is still let
    /// through, and rejected where it asks for that: otherwise no action could end a wait.
    private func mayWait(_ session: Session) -> Bool {
        !isFull(session, besides: 0)
    }

    /// Whether so many of a session's actions wait for their answers, besides `count` others, that no
    /// more may.
    private func isFull(_ session: Session, besides count: Int) -> Bool {
        func isOver() -> Bool { session.deferred.count + count >= limits.inFlightMax }
        // because an action of the same turn may have ended these waits
        if isOver(), tree.turn.hasResolutions { resolve() }
        return isOver()
    }

    /// Why a session may send nothing more for now; `isAwaited` says whether it is to be told of the
    /// end of effects.
    private func quota(of session: Session, isAwaited: Bool) -> Rejection? {
        if isReadOnly {
            return Rejection(
                .diskFull,
                "the daemon's disk is full: it shows what there is, and changes nothing until there "
                    + "is room")
        }
        guard isAwaited, isFull(session, besides: session.awaited.count) else { return nil }
        return Rejection(
            .quota,
            "inFlightMax \(limits.inFlightMax) actions wait for their answers or their effects")
    }

    private func noteApplied(
        _ run: AppliedRun, _ session: Session, _ connection: Connection
    ) {
        session.noteApplied(run, limits)
        if connection.pending.run.isContinued(by: run) {
            connection.pending.run.count &+= run.count
            return
        }
        flushRun(of: connection)
        connection.pending.run = run
        note(connection)
    }

    /// Reads the options in front of an action and checks them; says where the action starts, and
    /// under which name its effects can be cancelled.
    func checkConditions(
        _ body: Span<UInt8>, of node: AnyNode, _ connection: Connection
    ) throws(StepFailure) -> (offset: Int, cancel: String?) {
        var cursor = WireCursor()
        let options: DispatchOptions
        do throws(WireError) {
            options = try DispatchOptions.decode(body, &cursor)
        } catch {
            throw .decode(error.inside("options"))
        }
        if let expected = options.expected {
            let actual = Revision(epoch: tree.turn.epoch, sequence: node.sequence)
            // because whoever saw the tree at a later revision than the node's last change saw
            // the node as it is
            guard expected.epoch == actual.epoch, expected.sequence >= actual.sequence,
                expected.sequence <= tree.turn.sequence
            else {
                throw .rejected(
                    Rejection(
                        .conflict, "\(node.path) changed at revision \(actual), not \(expected)"))
            }
        }
        if options.ack == .durable {
            guard keepsHistory else {
                throw .rejected(
                    Rejection(
                        .history,
                        "the daemon keeps everything in memory, nothing is durable: give it `data:`"
                    ))
            }
            desk.value.isDurable = true
        }
        if let deadline = options.deadline,
            connection.heldFor >= UInt64(deadline) * 1_000_000
        {
            let waited = connection.heldFor / 1_000_000
            throw .rejected(
                Rejection(
                    .deadline, "the action waited \(waited) ms for its turn, at most \(deadline)"))
        }
        return (cursor.offset, options.cancel)
    }

    /// Notes the outcome of an action, and promises to tell of its end where that is asked for.
    private func conclude(
        _ result: DispatchResult, _ header: FrameHeader, _ session: Session,
        _ connection: Connection
    ) {
        conclude(result, header.number, session, connection)
        if header.flags.contains(.awaited) { promiseDone(of: header.number, result, session) }
    }

    /// Notes every outcome but the plain one.
    private func conclude(
        _ result: DispatchResult, _ ordinal: UInt64, _ session: Session, _ connection: Connection
    ) {
        let outcome: Outcome
        switch result {
        case .applied(let sequence):
            note(
                .applied(sequence: sequence, reply: nil, ownerEnded: false), of: ordinal, session)
            return noteApplied(
                AppliedRun(ordinal: ordinal, sequence: sequence, count: 1), session, connection)
        case .replied(let sequence, let reply):
            outcome = .applied(sequence: sequence, reply: reply, ownerEnded: false)
        case .accepted(let sequence): outcome = .accepted(sequence: sequence)
        case .deferred:
            session.deferred.insert(ordinal)
            return
        case .failed(.decode(let error)):
            stats.rejections &+= 1
            outcome = .rejected(
                code: FaultCode.decode.rawValue,
                message: "\(error)".cut(to: limits.messageBytesMax))
        case .failed(.rejected(let rejection)):
            stats.rejections &+= 1
            outcome = .rejected(
                code: rejection.code.cut(to: limits.messageBytesMax),
                message: rejection.message.cut(to: limits.messageBytesMax))
        }
        session.note(outcome, of: ordinal, limits)
        note(outcome, of: ordinal, session)
        send(outcome, of: ordinal, to: connection)
    }
}

// MARK: - Batches
extension Server {
    /// Carries out several actions as one transaction.
    func dispatchBatch(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) {
        guard let session = connection.session else { return }
        let ordinal = header.number
        guard ordinal > session.ordinal else {
            return repeatOutcome(header, session, to: connection)
        }
        session.ordinal = ordinal
        countAction(of: connection)
        countActionBytes(FrameHeader.byteCount + body.count, of: connection)
        let hasOptions = header.flags.contains(.options)
        let aliases =
            keepsHistory ? connection.aliases(in: body, hasOptions: hasOptions) : []
        let result = watching(ordinal, of: session) {
            carryOutBatch(header, body, session, connection)
        }
        note(header, body, aliases, result, session, connection)
        conclude(result, header, session, connection)
    }

    private func carryOutBatch(
        _ header: FrameHeader, _ body: Span<UInt8>, _ session: Session, _ connection: Connection
    ) -> DispatchResult {
        do throws(StepFailure) {
            if let refusal = quota(of: session, isAwaited: header.flags.contains(.awaited)) {
                throw .rejected(refusal)
            }
            var (offset, cancel): (Int, String?) = (0, nil)
            if header.flags.contains(.options) {
                (offset, cancel) = try checkConditions(body, of: tree.root, connection)
            }
            let items = try batchItems(body, from: offset, of: connection)
            guard admission == .all else {
                return shrink(
                    items, body, header.number, cancel, connection, mayWait(session))
            }
            return tree.transact(
                items, body, by: connection.caller, ordinal: header.number, cancel: cancel,
                mayWait: mayWait(session))
        } catch {
            return .failed(error)
        }
    }

    private func batchItems(
        _ body: Span<UInt8>, from offset: Int, of connection: Connection
    ) throws(StepFailure) -> [Tree.BatchItem] {
        let parts: [(id: UInt64, range: Range<Int>)]
        do throws(WireError) {
            parts = try batchParts(body, from: offset)
        } catch {
            throw .decode(error.inside("batch"))
        }
        var items: [Tree.BatchItem] = []
        for (index, part) in parts.enumerated() {
            guard let id = UInt32(exactly: part.id), let node = connection.node(id) else {
                let text = "action \(index): node \(part.id) is not open or is gone"
                throw .rejected(Rejection(.notFound, text))
            }
            items.append(Tree.BatchItem(node: node, range: part.range))
        }
        return items
    }

    /// The ids that a batch names, and where its actions stand.
    private func batchParts(
        _ body: Span<UInt8>, from offset: Int
    ) throws(WireError) -> [(id: UInt64, range: Range<Int>)] {
        var parts: [(id: UInt64, range: Range<Int>)] = []
        var cursor = WireCursor(offset: offset)
        var list = try cursor.openArray(in: body)
        while try cursor.nextElement(in: body, &list) {
            guard parts.count < limits.batchActionsMax else {
                throw WireError(
                    .refused("more than batchActionsMax \(limits.batchActionsMax) actions"),
                    at: cursor.offset)
            }
            do throws(WireError) {
                parts.append(try batchPart(body, &cursor))
            } catch {
                throw error.inside("\(parts.count)")
            }
        }
        guard cursor.offset == body.count else {
            throw WireError(.trailingBytes(body.count - cursor.offset), at: cursor.offset)
        }
        return parts
    }

    private func batchPart(
        _ body: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> (id: UInt64, range: Range<Int>) {
        var pair = try cursor.openArray(in: body)
        guard try cursor.nextElement(in: body, &pair) else {
            throw WireError(.missingField("id"), at: cursor.offset)
        }
        let id = try cursor.unsigned(in: body)
        guard try cursor.nextElement(in: body, &pair) else {
            throw WireError(.missingField("action"), at: cursor.offset)
        }
        let start = cursor.offset
        try cursor.skip(in: body)
        let range = start..<cursor.offset
        guard try !cursor.nextElement(in: body, &pair) else {
            throw WireError(.refused("more than id and action"), at: cursor.offset)
        }
        return (id, range)
    }
}
