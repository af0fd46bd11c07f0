import ReactorBytes
import ReactorLoop
import ReactorWire

/// The contents of a client's journal: the session, and the actions without an outcome.
struct PendingState {
    /// The session; its secret is absent if there was no welcome.
    var session = KeptSession(secret: nil, epoch: 0, since: nil, last: 0)
    /// Every outcome up to this ordinal had arrived.
    var concluded: UInt64 = 0
    /// Highest ordinal in use.
    var last: UInt64 = 0
    /// Paths of nodes by their numbers in the frames.
    var paths: [UInt32: String] = [:]
    /// Frames of the actions above ``concluded``, by their ordinals.
    var frames: [UInt64: [UInt8]] = [:]
    /// Length of the file up to the end of its last complete record, in bytes.
    var byteCount = 0

    /// Reads a journal, without a torn end.
    ///
    /// *Throws*: if the bytes are no journal, or if complete records follow a damaged one.
    init(_ bytes: [UInt8]) throws(ClientError) {
        let magic = PendingRecord.magic
        // The writer may have ended in the middle of the magic bytes.
        if bytes.count < magic.count, magic.starts(with: bytes) { return }
        guard bytes.starts(with: magic) else {
            throw .system("the journal does not begin as a client's does")
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
        // The actions in those records were promised and would be lost silently.
        if PendingRecord.isAny(span, behind: byteCount) {
            throw .system(
                "the journal is damaged at byte \(byteCount), before further records: examine it, "
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

    /// Numbers of the nodes that the actions go to, if their paths are known.
    var nodesInUse: [UInt32] {
        let used = frames.values.reduce(into: Set<UInt32>()) { used, frame in
            used.formUnion(ActionFrames.nodes(of: frame.span))
        }
        return used.filter { paths[$0] != nil }.sorted()
    }
}

/// The store of a client's journal: see ``ClientOptions/journal``.
///
/// *Place*: beneath ``ClientJournal``; a file, or a test's array.
protocol PendingStore: AnyObject {
    /// Length of the contents, in bytes.
    var byteCount: Int { get }
    /// Returns the whole contents.
    func contents() throws(LoopError) -> [UInt8]
    /// Appends bytes.
    func append(_ bytes: [UInt8]) throws(LoopError)
    /// Truncates the contents to the first `byteCount` bytes.
    func truncate(to byteCount: Int) throws(LoopError)
    /// Replaces the whole contents atomically.
    func replace(with bytes: [UInt8]) throws(LoopError)
}

extension AppendFile: PendingStore {}
