import ReactorBytes
import ReactorCore

// MARK: - From bytes to frames
extension ClientMachine {
    /// Bytes arrived.
    ///
    /// *Owner*: `bytes` is lent for the call; what is part of an unfinished frame is copied.
    public func receive(_ bytes: Span<UInt8>) {
        var start = 0
        // because only the frame that was cut is put together: the rest is read where it lies
        while start < bytes.count, !partial.isEmpty, isConnected {
            let end = min(bytes.count, start + missingBytes())
            partial.append(contentsOf: bytes, start..<end)
            start = end
            guard missingBytes() == 0 else { continue }
            let whole = partial
            partial = []
            _ = consume(whole.span, from: 0)
        }
        if start < bytes.count, isConnected {
            let used = consume(bytes, from: start)
            if used < bytes.count, isConnected {
                partial.append(contentsOf: bytes, used..<bytes.count)
            }
        }
        settle()
    }

    private var isConnected: Bool { lane.value.isLive || stage == .greeting }

    /// How many bytes the cut frame needs before it can be looked at again: the rest of its header,
    /// then the rest of its body.
    private func missingBytes() -> Int {
        let have = partial.count
        if have < FrameHeader.byteCount { return FrameHeader.byteCount - have }
        let partial = partial
        let length = Int(partial.span.word(at: 0, byteCount: 4))
        // because what is refused from the header alone is refused by `consume`
        guard length <= options.frameBytesMax, Self.isSent(partial[4]) else { return 0 }
        return FrameHeader.byteCount + length - have
    }

    /// Handles the whole frames that start at `first`, and says where they end.
    private func consume(_ bytes: Span<UInt8>, from first: Int) -> Int {
        var offset = first
        stagedStart = nil
        do throws(ClientFault) {
            while isConnected {
                offset = passDeltas(bytes, from: offset)
                guard let header = try header(bytes, at: offset) else { break }
                let start = offset &+ FrameHeader.byteCount
                let end = start &+ Int(header.length)
                guard end <= bytes.count else {
                    // because what is no frame may claim any length: its end is not waited for
                    try checkKind(header, at: offset)
                    break
                }
                try handle(header, bytes, start..<end)
                offset = end
            }
            try keepStaged(bytes, upTo: offset)
        } catch {
            dropConnection(error)
        }
        stagedStart = nil
        return offset
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

    /// Copies the updates that no mark has completed out of a span that is about to go.
    private func keepStaged(_ bytes: Span<UInt8>, upTo end: Int) throws(ClientFault) {
        guard let start = stagedStart, isConnected else { return }
        guard staged.count + end - start <= options.stagedBytesMax else {
            throw ClientFault("stagedBytesMax \(options.stagedBytesMax) of updates without a mark")
        }
        staged.append(contentsOf: bytes, start..<end)
    }

    private func handle(
        _ header: FrameHeader, _ bytes: Span<UInt8>, _ range: Range<Int>
    ) throws(ClientFault) {
        // because nearly every frame is one of these: they are looked at first
        if lane.value.isLive {
            if header.kind == FrameKind.applied.rawValue {
                return try noteRun(header, bytes.extracting(range))
            }
            if header.kind == FrameKind.delta.rawValue {
                return try noteUpdate(.delta, header, at: range.lowerBound)
            }
        }
        guard let kind = FrameKind(rawValue: header.kind), kind.isFromDaemon else {
            return try checkKind(header, at: range.lowerBound - FrameHeader.byteCount)
        }
        let body = bytes.extracting(range)
        switch (stage, kind) {
        case (_, .closing): noteClosing(body)
        case (.greeting, .welcome): try greet(body)
        case (.live, .mark): try noteMark(header, bytes, upTo: range.lowerBound)
        case (.live, .snapshot), (.live, .value), (.live, .delta):
            try noteUpdate(kind, header, at: range.lowerBound)
        case (.live, .outcome): try noteOutcome(header, body)
        case (.live, .applied): try noteRun(header, body)
        case (.live, .done): try noteDone(header)
        case (.live, .lag): noteLag()
        case (.live, .gone): noteGone(header.id)
        case (.live, .notice):
            if let notice = try? Notice(wireBytes: body) { note(notice, header.number) }
        case (.live, .opened), (.live, .refused), (.live, .subscribed), (.live, .answer),
            (.live, .pong):
            try noteReply(kind, header, body)
        default: throw ClientFault("a \(kind) frame while \(stage)")
        }
    }

    /// Whether a daemon may send a frame of this raw kind: one that is known or may be skipped.
    private static func isSent(_ kind: UInt8) -> Bool {
        FrameKind(rawValue: kind)?.isFromDaemon ?? FrameKind.isIgnorable(kind)
    }

    private func checkKind(_ header: FrameHeader, at offset: Int) throws(ClientFault) {
        if Self.isSent(header.kind) { return }
        throw ClientFault("\(FrameError(.unknownKind(header.kind), at: offset))")
    }

    private func noteClosing(_ body: Span<UInt8>) {
        closing =
            (try? Closing(wireBytes: body))
            ?? Closing(.framing, "the daemon gave no readable reason")
        // because it is the last that a daemon sends, and one that then keeps the socket open must
        // not keep the client waiting
        leaveConnection()
    }

    /// After everything that arrived: lets go what waited for it.
    func settle() {
        if isResyncing, !mustHold, lane.value.isLive { endResync() }
        if !held.isEmpty, !mustHold { releaseHeld() }
        if lane.value.isLive { settleActions() }
        if lostPast != nil { tellLostPast() }
        // because what was catching up has done so
        if !checks.isEmpty { settleChecks() }
    }
}

extension FrameKind {
    /// Whether a daemon sends frames of this kind.
    fileprivate var isFromDaemon: Bool { rawValue > FrameKind.ping.rawValue }
}
