import ReactorBytes
import ReactorWire

/// What a client's journal says: the session, and the actions whose outcomes had not arrived.
struct PendingState {
    /// The session; its secret is absent where none was had.
    var session = KeptSession(secret: nil, epoch: 0, since: nil, last: 0)
    /// Every outcome up to this ordinal had arrived.
    var concluded: UInt64 = 0
    /// Highest ordinal in use.
    var last: UInt64 = 0
    /// Paths of nodes by the numbers that the frames have.
    var paths: [UInt32: String] = [:]
    /// Frames of the actions above ``concluded``, by their ordinals.
    var frames: [UInt64: [UInt8]] = [:]
    /// Bytes of the file up to the end of its last whole record.
    var byteCount = 0

    /// Reads a journal; a torn end is left out.
    ///
    /// *Throws*: where the bytes are something else, and where there is more behind what is damaged.
    init(_ bytes: [UInt8]) throws(ClientError) {
        let magic = PendingRecord.magic
        // because its writer may have ended before it had written as much
        if bytes.count < magic.count, magic.starts(with: bytes) { return }
        guard bytes.starts(with: magic) else {
            throw .system("the journal begins with other bytes than a client's does")
        }
        let span = bytes.span
        byteCount = magic.count
        while let record = PendingRecord(span, at: byteCount) {
            do throws(WireError) {
                try note(record, span)
            } catch {
                throw .system("the journal at byte \(byteCount): \(error)")
            }
            byteCount = record.payload.upperBound
        }
        // because actions that were promised to be carried out would be gone without a word
        if PendingRecord.isAny(span, behind: byteCount) {
            throw .system(
                "the journal is damaged at byte \(byteCount), and goes on behind that: look at it, "
                    + "or move it away to begin anew")
        }
        frames = frames.filter { $0.key > concluded }
        last = max(last, concluded)
    }

    private mutating func note(
        _ record: PendingRecord, _ bytes: Span<UInt8>
    ) throws(WireError) {
        let payload = bytes.extracting(record.payload)
        switch record.kind {
        case .session:
            session = try KeptSession(wireBytes: payload)
            last = max(last, session.last)
        case .node:
            let node = try KeptNode(wireBytes: payload)
            paths[node.id] = node.path
        case .actions:
            SentActions.forEachAction(in: payload, 0..<payload.count) { ordinal, range in
                var frame: [UInt8] = []
                frame.append(contentsOf: payload, range)
                frames[ordinal] = frame
                last = max(last, ordinal)
            }
        case .concluded:
            guard payload.count == 8 else { return }
            concluded = max(concluded, payload.word(at: 0, byteCount: 8))
        }
    }

    /// The numbers of nodes that a frame of an action speaks of.
    static func nodes(of frame: Span<UInt8>) -> [UInt32] {
        guard frame[4] == FrameKind.batch.rawValue else {
            return [UInt32(frame.word(at: 8, byteCount: 4))]
        }
        return (try? batchNodes(of: frame)) ?? []
    }

    private static func batchNodes(of frame: Span<UInt8>) throws(WireError) -> [UInt32] {
        var cursor = WireCursor(offset: FrameHeader.byteCount)
        if FrameFlags(rawValue: frame[5]).contains(.options) { try cursor.skip(in: frame) }
        var nodes: [UInt32] = []
        var pairs = try cursor.openArray(in: frame)
        while try cursor.nextElement(in: frame, &pairs) {
            var pair = try cursor.openArray(in: frame)
            guard try cursor.nextElement(in: frame, &pair) else { continue }
            nodes.append(try UInt32.decode(frame, &cursor))
            while try cursor.nextElement(in: frame, &pair) { try cursor.skip(in: frame) }
        }
        return nodes
    }
}
