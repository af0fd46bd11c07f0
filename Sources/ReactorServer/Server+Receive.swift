import ReactorCore
import ReactorWire

// MARK: - From bytes to frames
extension Server {
    /// Bytes arrived.
    ///
    /// *Owner*: `bytes` is lent for the call; what is part of an unfinished frame is copied.
    public func receive(_ id: ConnectionID, _ bytes: Span<UInt8>, at now: UInt64) {
        guard let connection = connections[id], !connection.isClosing else { return }
        stats.bytesReceived &+= UInt64(bytes.count)
        if connection.partial.isEmpty {
            let used = consume(bytes, of: connection)
            keep(bytes, from: used, of: connection, at: now)
            return
        }
        // because only the frame that was cut is put together: the rest is read where it lies
        var start = 0
        while start < bytes.count, !connection.partial.isEmpty, !connection.isClosing {
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
        guard start < bytes.count, !connection.isClosing else { return }
        let used = consume(bytes, from: start, of: connection)
        keep(bytes, from: used, of: connection, at: now)
    }

    /// How many bytes the cut frame needs before it can be looked at again: the rest of its header,
    /// then the rest of its body.
    private func missingBytes(of connection: Connection) -> Int {
        let have = connection.partial.count
        if have < FrameHeader.byteCount { return FrameHeader.byteCount - have }
        let header = connection.partial
        let length = Int(header.span.word(at: 0, byteCount: 4))
        // because a length that is refused is refused by `consume`, from the header alone
        guard length <= limits.frameBytesMax else { return 0 }
        return FrameHeader.byteCount + length - have
    }

    private func keep(
        _ bytes: Span<UInt8>, from start: Int, of connection: Connection, at now: UInt64
    ) {
        guard start < bytes.count, !connection.isClosing else { return }
        connection.partial.append(contentsOf: bytes, start..<bytes.count)
        connection.partialSince = now
    }

    /// Handles the whole frames that start at `first`, and says where they end.
    private func consume(
        _ bytes: Span<UInt8>, from first: Int = 0, of connection: Connection
    ) -> Int {
        var offset = first
        do throws(FrameError) {
            while !connection.isClosing {
                guard
                    let header = try FrameHeader.decode(
                        bytes, at: offset, frameBytesMax: limits.frameBytesMax)
                else {
                    try refuseStranger(bytes, at: offset, of: connection)
                    return offset
                }
                let start = offset &+ FrameHeader.byteCount
                if connection.stage == .greeting { try expectHello(header, at: offset) }
                let end = start &+ Int(header.length)
                guard end <= bytes.count else { return offset }
                try handle(header, bytes.extracting(start..<end), at: offset, of: connection)
                connection.receivedBytes &+= UInt64(end &- offset)
                offset = end
            }
        } catch {
            fail(connection, .framing, error.description, at: UInt64(max(0, error.offset - offset)))
        }
        return offset
    }

    /// Closes on the first bytes of another protocol, before they make up a header.
    private func refuseStranger(
        _ bytes: Span<UInt8>, at offset: Int, of connection: Connection
    ) throws(FrameError) {
        guard connection.stage == .greeting, bytes.count &- offset >= 5 else { return }
        guard bytes[offset &+ 4] == FrameKind.hello.rawValue else {
            throw FrameError(.unknownKind(bytes[offset &+ 4]), at: offset)
        }
    }

    private func expectHello(_ header: FrameHeader, at offset: Int) throws(FrameError) {
        guard header.kind == FrameKind.hello.rawValue, header.number == Hello.magic else {
            throw FrameError(.unknownKind(header.kind), at: offset)
        }
    }

    private func handle(
        _ header: FrameHeader, _ body: Span<UInt8>, at offset: Int, of connection: Connection
    ) throws(FrameError) {
        // because nearly every frame is one: it is looked at first
        if header.kind == FrameKind.dispatch.rawValue, connection.stage == .open {
            dispatch(header, body, of: connection)
            return
        }
        guard let kind = FrameKind(rawValue: header.kind), kind.isFromClient else {
            guard FrameKind.isIgnorable(header.kind) else {
                throw FrameError(.unknownKind(header.kind), at: offset)
            }
            stats.framesIgnored &+= 1
            return
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
    /// Whether a client sends frames of this kind.
    fileprivate var isFromClient: Bool { rawValue <= FrameKind.ping.rawValue }
}

// MARK: - Faults
extension Server {
    /// Tells a connection what it did wrong, and closes it once that is written.
    func fail(
        _ connection: Connection, _ code: FaultCode, _ message: String, at offset: UInt64 = 0
    ) {
        guard !connection.isClosing else { return }
        stats.faults &+= 1
        outputs.append(.log(.closedForFault(connection.id, connection.peer, code, message)))
        close(connection, Closing(code, message, offset: connection.receivedBytes &+ offset))
    }

    /// Sends a closing frame behind everything else, and closes the socket after it.
    func close(_ connection: Connection, _ closing: Closing) {
        guard !connection.isClosing else { return }
        flushRun(of: connection)
        let frame = outcomes.beginFrame(.closing)
        closing.encode(into: &outcomes)
        outcomes.endFrame(at: frame)
        connection.pending.outcomes.appendJoined(frame..<outcomes.count)
        connection.isClosing = true
        connection.partial = []
        note(connection)
    }
}

extension Array where Element == Range<Int> {
    /// Appends a range, or extends the last one that it continues.
    @inline(__always)
    mutating func appendJoined(_ range: Range<Int>) {
        if let last, last.upperBound == range.lowerBound {
            self[count - 1] = last.lowerBound..<range.upperBound
        } else if !range.isEmpty {
            append(range)
        }
    }
}
