import ReactorBytes
import ReactorLoop
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
        // Its writer may have ended before it had written as much.
        if bytes.count < magic.count, magic.starts(with: bytes) { return }
        guard bytes.starts(with: magic) else {
            throw .system("the journal begins with other bytes than a client's does")
        }
        let span = bytes.span
        byteCount = magic.count
        while let record = PendingRecord(span, at: byteCount) {
            do throws(WireError) {
                try take(record, span)
            } catch {
                throw .system("the journal at byte \(byteCount): \(error)")
            }
            byteCount = record.payload.upperBound
        }
        // Actions that were promised would be lost without a word.
        if PendingRecord.isAny(span, behind: byteCount) {
            throw .system(
                "the journal is damaged at byte \(byteCount), and goes on behind that: look at it, "
                    + "or move it away to begin a new one")
        }
        frames = frames.filter { $0.key > concluded }
        last = max(last, concluded)
    }

    private mutating func take(
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
            ActionFrames.forEach(in: payload, 0..<payload.count) { ordinal, range in
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

    /// Numbers of the nodes that the actions go to, where their paths are known.
    var nodesInUse: [UInt32] {
        let used = frames.values.reduce(into: Set<UInt32>()) { used, frame in
            used.formUnion(ActionFrames.nodes(of: frame.span))
        }
        return used.filter { paths[$0] != nil }.sorted()
    }
}

/// Where a client's journal is kept: see ``ClientOptions/journal``.
///
/// *Place*: beneath ``ClientJournal``; a file, or a test's array.
protocol PendingStore: AnyObject {
    /// How long it is.
    var byteCount: Int { get }
    /// Everything in it.
    func contents() throws(LoopError) -> [UInt8]
    /// Puts bytes behind what is there.
    func append(_ bytes: [UInt8]) throws(LoopError)
    /// Cuts it to its first bytes.
    func truncate(to byteCount: Int) throws(LoopError)
    /// Puts other contents in place of all that is there, as a whole.
    func replace(with bytes: [UInt8]) throws(LoopError)
}

extension AppendFile: PendingStore {}
