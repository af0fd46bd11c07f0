import ReactorBytes
import ReactorCore
import ReactorWire

// MARK: - From bytes to frames
extension Server {
    /// Bytes arrived.
    ///
    /// *Owner*: `bytes` is lent for the call; what is part of an unfinished frame is copied.
    public func receive(_ id: ConnectionID, _ bytes: Span<UInt8>, at now: UInt64) {
        self.now = now
        guard let connection = desk.value.connections[id], !connection.isClosing else { return }
        stats.bytesReceived &+= UInt64(bytes.count)
        if connection.isReadingPaused {
            // because the shell had read this before it was told to stop
            connection.partial.append(contentsOf: bytes, 0..<bytes.count)
            connection.partialArrivedAt = now
        } else if connection.partial.isEmpty {
            let used = consume(bytes, of: connection)
            keep(bytes, from: used, of: connection)
        } else {
            complete(bytes, of: connection)
        }
    }

    /// Puts a frame that was cut together with what arrived; only that one, for the rest is read
    /// where it lies.
    private func complete(_ bytes: Span<UInt8>, of connection: Connection) {
        var start = 0
        while start < bytes.count, !connection.partial.isEmpty, connection.isRead {
            let missing = missingBytes(of: connection)
            let end = min(bytes.count, start + missing)
            connection.partial.append(contentsOf: bytes, start..<end)
            start = end
            guard missingBytes(of: connection) == 0 else { continue }
            let whole = connection.partial
            connection.partial = []
            let used = consume(whole.span, of: connection)
            if used < whole.count, !connection.isClosing {
                preconditionFailure("a whole frame of \(whole.count) bytes was not consumed")
            }
        }
        let used = connection.isRead ? consume(bytes, from: start, of: connection) : start
        keep(bytes, from: used, of: connection)
    }

    /// Handles what was held back while the client did not take its outcomes.
    func readOn(_ connection: Connection) {
        let held = connection.partial
        let arrivedAt = connection.partialArrivedAt
        connection.partial = []
        connection.heldFor = now &- arrivedAt
        let used = consume(held.span, of: connection)
        connection.heldFor = 0
        keep(held.span, from: used, of: connection)
        connection.partialArrivedAt = arrivedAt
        if connection.isInputEnded { note(connection) }
    }

    /// Counts a frame that is no new action; a connection that has had its share waits for its next
    /// turn. What is counted costs the peer next to nothing, and may have no answer that would
    /// slow it down.
    func countFrame(of connection: Connection) {
        if connection.frameTurn != endedTurns {
            connection.frameTurn = endedTurns
            connection.frameCount = 0
        }
        connection.frameCount += 1
        guard connection.frameCount == limits.framesPerTurnMax, !connection.isClosing else {
            return
        }
        connection.isSpent = true
        spent.append(connection)
        pauseReading(connection)
    }

    /// Goes on with the input of those who had their share in a turn before.
    func readRested() {
        endedTurns &+= 1
        guard !rested.isEmpty || !spent.isEmpty else { return }
        let due = rested
        rested = []
        for connection in due where connection.stage != .closed {
            connection.isSpent = false
            resumeReading(connection)
        }
        rested = spent
        spent = []
    }

    /// How many bytes the cut frame needs before it can be looked at again: the rest of its header,
    /// then the rest of its body.
    private func missingBytes(of connection: Connection) -> Int {
        let partial = connection.partial
        let have = partial.count
        if have < FrameHeader.byteCount {
            guard connection.stage == .greeting else { return FrameHeader.byteCount - have }
            // because a stranger is told from a client by the fifth byte or the sixth, and may send
            // no whole header
            if isStranger(partial.span, at: 0) { return 0 }
            return (have < 5 ? 5 : have == 5 ? 6 : FrameHeader.byteCount) - have
        }
        // because a header that is refused is refused by `consume`, before its body arrives
        guard
            let header = try? FrameHeader.decode(
                partial.span, at: 0, frameBytesMax: limits.frameBytesMax)
        else { return 0 }
        return FrameHeader.byteCount + Int(header.length) - have
    }

    private func keep(_ bytes: Span<UInt8>, from start: Int, of connection: Connection) {
        guard start < bytes.count, !connection.isClosing else { return }
        connection.partial.append(contentsOf: bytes, start..<bytes.count)
        connection.partialSince = now
        connection.partialArrivedAt = now
    }

    /// Handles the whole frames that start at `first`, and says where they end.
    private func consume(
        _ bytes: Span<UInt8>, from first: Int = 0, of connection: Connection
    ) -> Int {
        var offset = first
        do throws(FrameError) {
            while connection.isRead {
                offset = dispatchRun(bytes, from: offset, of: connection)
                // because a run may end in answers that the client has yet to take
                guard connection.isRead else { return offset }
                guard
                    let header = try FrameHeader.decode(
                        bytes, at: offset, frameBytesMax: limits.frameBytesMax)
                else {
                    try refuseStranger(bytes, at: offset, of: connection)
                    return offset
                }
                let start = offset &+ FrameHeader.byteCount
                if connection.stage == .greeting {
                    try expectHello(header, at: offset, of: connection)
                }
                let end = start &+ Int(header.length)
                guard end <= bytes.count, !connection.isClosing else { return offset }
                try handle(header, bytes.extracting(start..<end), at: offset, of: connection)
                connection.receivedBytes &+= UInt64(end &- offset)
                offset = end
            }
        } catch {
            let told = FrameError(error.condition, at: Int(clamping: connection.receivedBytes))
            fail(connection, .framing, told.description)
        }
        return offset
    }

    /// Closes on the first bytes of another protocol, before they make up a header.
    private func refuseStranger(
        _ bytes: Span<UInt8>, at offset: Int, of connection: Connection
    ) throws(FrameError) {
        guard connection.stage == .greeting, isStranger(bytes, at: offset) else { return }
        throw FrameError(.unknownKind(bytes[offset &+ 4]), at: offset)
    }

    /// Whether the first bytes of a connection are no client's: of a kind that no client sends, or
    /// with flags on one that is only skipped.
    private func isStranger(_ bytes: Span<UInt8>, at offset: Int) -> Bool {
        guard bytes.count &- offset >= 5 else { return false }
        let kind = bytes[offset &+ 4]
        guard FrameKind.isIgnorable(kind) else { return !FrameKind.isOfClient(kind) }
        return bytes.count &- offset >= 6 && bytes[offset &+ 5] != 0
    }

    private func expectHello(
        _ header: FrameHeader, at offset: Int, of connection: Connection
    ) throws(FrameError) {
        if header.kind == FrameKind.hello.rawValue, header.number == Hello.magic { return }
        if FrameKind.isIgnorable(header.kind), header.flags.isEmpty { return }
        guard header.kind != FrameKind.hello.rawValue, FrameKind.isOfClient(header.kind) else {
            throw FrameError(.unknownKind(header.kind), at: offset)
        }
        fail(connection, .state, "frame of kind \(header.kind) before hello")
    }

    private func handle(
        _ header: FrameHeader, _ body: Span<UInt8>, at offset: Int, of connection: Connection
    ) throws(FrameError) {
        // because nearly every frame is one: it is looked at first
        if header.kind == FrameKind.dispatch.rawValue,
            header.flags.isSubset(of: [.options, .awaited])
        {
            dispatch(header, body, of: connection)
            return
        }
        countFrame(of: connection)
        guard let kind = FrameKind(rawValue: header.kind), FrameKind.isOfClient(header.kind) else {
            guard FrameKind.isIgnorable(header.kind) else {
                throw FrameError(.unknownKind(header.kind), at: offset)
            }
            stats.framesIgnored &+= 1
            return
        }
        guard header.flags.isSubset(of: kind == .batch ? [.options, .awaited] : []) else {
            throw FrameError(.reservedBits, at: offset)
        }
        guard header.length == 0 || kind.hasBody else {
            return fail(
                connection, .framing, "\(kind) with a body of \(header.length) bytes, expected none"
            )
        }
        switch kind {
        case .hello: greet(body, of: connection)
        case .goodbye: sayGoodbye(connection)
        case .open: open(header, body, of: connection)
        case .batch: dispatchBatch(header, body, of: connection)
        case .subscribe: subscribe(header, body, of: connection)
        case .unsubscribe: unsubscribe(header.id, of: connection)
        case .confirm: connection.session?.confirm(header.number)
        case .ask: answer(header, body, of: connection)
        case .ping: pong(header, of: connection)
        default: preconditionFailure("\(kind) is not a client's frame")
        }
    }

    private func pong(_ header: FrameHeader, of connection: Connection) {
        reply(to: connection) { writer in
            writer.header(FrameHeader(kind: .pong, number: header.number))
        }
    }
}

extension FrameKind {
    /// Whether a client sends frames of this raw kind.
    fileprivate static func isOfClient(_ kind: UInt8) -> Bool {
        kind >= FrameKind.hello.rawValue && kind <= FrameKind.ping.rawValue
    }

    fileprivate var hasBody: Bool {
        switch self {
        case .goodbye, .unsubscribe, .confirm, .ping: false
        default: true
        }
    }
}

extension Connection {
    /// Whether frames of it are handled now.
    fileprivate var isRead: Bool { !isClosing && !isReadingPaused }
}

// MARK: - Faults
extension Server {
    /// Tells a connection what it did wrong, and closes it once that is written.
    func fail(_ connection: Connection, _ code: FaultCode, _ message: String) {
        guard !connection.isClosing else { return }
        let message = message.cut(to: limits.messageBytesMax)
        stats.faults &+= 1
        tell(connection.peer, code) {
            .closedForFault(connection.id, connection.peer, code, message, leftOut: $0)
        }
        close(connection, Closing(code, message, offset: connection.receivedBytes))
    }

    /// Tells the operator of a peer's fault, unless it was told a moment ago.
    func tell(_ peer: Peer, _ code: FaultCode, _ event: (_ leftOut: UInt64) -> ServerEvent) {
        guard let leftOut = gate.admit(peer, code, at: now) else {
            stats.eventsLeftOut &+= 1
            return
        }
        outputs.append(.log(event(leftOut)))
    }

    /// Tells the operator what went wrong without a peer to blame.
    func complain(_ text: String) {
        guard let leftOut = gate.admitComplaint(at: now) else {
            stats.eventsLeftOut &+= 1
            return
        }
        outputs.append(.log(.complaint(text, leftOut: leftOut)))
    }

    /// Sends a closing frame behind everything else, and closes the socket after it. Behind
    /// everything are the snapshots too that replace what was dropped: the last mark is never left
    /// out for a client that reads on.
    func close(_ connection: Connection, _ closing: Closing) {
        guard !connection.isClosing else { return }
        dropQuestions(of: connection)
        connection.farewell = closing
        if !connection.isBehind { sayFarewell(to: connection) }
        beginClosing(connection)
    }

    /// Appends the closing frame that a connection is still to be told, if there is one.
    func sayFarewell(to connection: Connection) {
        guard let closing = connection.farewell else { return }
        connection.farewell = nil
        flushRun(of: connection)
        let frame = outcomes.beginFrame(.closing)
        closing.encode(into: &outcomes)
        outcomes.endFrame(at: frame)
        connection.pending.outcomes.append(frame..<outcomes.count)
    }

    /// Hears nothing more from a connection, and lets it go once it has taken what it is owed.
    func beginClosing(_ connection: Connection) {
        connection.isClosing = true
        connection.closingSince = now
        connection.partial = []
        silent.leave(connection.id, of: connection.peer.uid)
        note(connection)
    }
}

extension String {
    /// The text up to a whole character within its first `bytesMax` bytes.
    func cut(to bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var end = utf8.index(startIndex, offsetBy: bytesMax)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil {
            end = utf8.index(before: end)
        }
        return String(self[..<end])
    }
}
