import ReactorBytes
import ReactorCore
import ReactorLoop

/// Keeps a client's actions without an outcome in a store that outlives its process.
///
/// *Place*: once a turn, ``ClientMachine`` passes the actions that are about to leave and those
/// that wait. The initialiser reads what an earlier run kept. *Cost*: one write in each turn with
/// new actions.
final class ClientJournal {
    /// The contents that an earlier run left.
    private var recovered: PendingState
    /// The journal contains the actions up to this ordinal.
    private(set) var keptLast: UInt64
    /// The journal records that every outcome up to this ordinal has arrived.
    private(set) var concluded: UInt64
    /// True if the whole journal must be rewritten before any bytes leave.
    private(set) var needsRewrite = true
    private let store: any PendingStore
    private var session: KeptSession
    private var paths: [UInt32: String] = [:]
    /// Length, in bytes, at which the journal is rewritten.
    private var rewriteByteCount = ClientJournal.byteCountMin

    /// Length, in bytes, below which dropping actions with an outcome is not worth a rewrite.
    static let byteCountMin = 1 << 20

    /// Reads the contents of `store`, and cuts off a torn end.
    init(_ store: any PendingStore) throws(ClientError) {
        self.store = store
        let bytes = try Self.reading { () throws(LoopError) in try store.contents() }
        recovered = try PendingState(bytes)
        if recovered.byteCount < bytes.count {
            let good = recovered.byteCount
            try Self.reading { () throws(LoopError) in try store.truncate(to: good) }
        }
        keptLast = recovered.last
        session = recovered.session
        concluded = recovered.concluded
    }

    /// Opens the file at `path`.
    ///
    /// *Throws*: ``FaultCode/sessionBusy`` if another process has it open.
    convenience init(at path: String) throws(ClientError) {
        let file: AppendFile
        do throws(LoopError) {
            file = try AppendFile(at: path)
        } catch .fileInUse {
            let text = "the journal \(LoopError.fileInUse(path: path))"
            throw .refused(Refusal(.sessionBusy, text))
        } catch {
            throw .system("the journal \(error)")
        }
        try self.init(file)
    }

    private static func reading<Value>(
        _ body: () throws(LoopError) -> Value
    ) throws(ClientError) -> Value {
        do throws(LoopError) {
            return try body()
        } catch {
            throw .system("the journal \(error)")
        }
    }

    /// Moves out the contents that an earlier run left, for the run that continues it.
    func takeRecovered() -> PendingState {
        defer { recovered.frames = [:] }
        return recovered
    }

    /// Records the session: its secret, the daemon's epoch, and the sequence `since` of the
    /// daemon's first message about it.
    func keep(session secret: [UInt8], epoch: UInt64, since: UInt64?) {
        guard session.secret != secret || session.epoch != epoch else { return }
        session.secret = secret
        session.epoch = epoch
        session.since = since
        needsRewrite = true
    }
}

// MARK: - Writing
extension ClientJournal {
    /// Frames of actions, and the paths of the nodes that they name.
    ///
    /// ``invariants()`` states what holds between two verbs.
    struct Portion: ~Copyable {
        private var frames = WireWriter()
        private var namedNodes: Set<UInt32> = []
        private var frameCount = 0

        /// The nodes that the frames name, in ascending order.
        var nodes: [UInt32] { namedNodes.sorted() }

        /// Adds a frame of one action or of a batch.
        mutating func add(_ frame: Span<UInt8>) {
            defer { assert(invariants()) }
            frames.raw(frame)
            frameCount += 1
            if frame[4] == FrameKind.batch.rawValue {
                namedNodes.formUnion(ActionFrames.nodes(of: frame))
            } else {
                namedNodes.insert(UInt32(frame.word(at: 8, byteCount: 4)))
            }
        }

        /// Appends the frames as one record; nothing if there are none.
        func write(to writer: inout WireWriter) {
            guard frameCount > 0 else { return }
            frames.withBytes { PendingRecord.append(.actions, $0, to: &writer) }
        }

        /// The bytes have at least a header for each frame, and only frames name nodes.
        func invariants() -> Bool {
            frames.count >= frameCount * FrameHeader.byteCount
                && (frameCount > 0 || namedNodes.isEmpty)
        }
    }

    /// Appends new actions; `last` is the ordinal of the last of them, and every outcome up to
    /// `concluded` has arrived.
    func append(
        _ portion: borrowing Portion, last: UInt64, concluded: UInt64,
        path: (UInt32) -> String?
    ) throws(ClientError) {
        var writer = WireWriter()
        for node in portion.nodes {
            guard let path = path(node), paths[node] != path else { continue }
            write(node, path, to: &writer)
        }
        portion.write(to: &writer)
        if concluded > self.concluded { write(concluded: concluded, to: &writer) }
        keptLast = last
        guard writer.count > 0 else { return }
        let bytes = writer.bytes
        try Self.reading { () throws(LoopError) in try store.append(bytes) }
        needsRewrite = store.byteCount > rewriteByteCount
    }

    /// Rewrites the whole journal: the session, and these actions.
    func rewrite(
        _ portion: borrowing Portion, last: UInt64, concluded: UInt64,
        path: (UInt32) -> String?
    ) throws(ClientError) {
        var writer = WireWriter()
        writer.raw(PendingRecord.magic)
        session.last = max(last, session.last)
        PendingRecord.append(.session, session.wireBytes().span, to: &writer)
        paths = [:]
        for node in portion.nodes {
            if let path = path(node) { write(node, path, to: &writer) }
        }
        portion.write(to: &writer)
        write(concluded: concluded, to: &writer)
        let bytes = writer.bytes
        try Self.reading { () throws(LoopError) in try store.replace(with: bytes) }
        keptLast = max(keptLast, last)
        needsRewrite = false
        rewriteByteCount = max(Self.byteCountMin, 2 * bytes.count)
    }

    /// Empties the journal: there is no session to continue.
    func clear() throws(ClientError) {
        try Self.reading { () throws(LoopError) in try store.truncate(to: 0) }
    }

    private func write(_ node: UInt32, _ path: String, to writer: inout WireWriter) {
        paths[node] = path
        let kept = KeptNode(id: node, path: path)
        PendingRecord.append(.node, kept.wireBytes().span, to: &writer)
    }

    private func write(concluded: UInt64, to writer: inout WireWriter) {
        self.concluded = concluded
        var ordinal = WireWriter(capacity: 8)
        ordinal.word(concluded, byteCount: 8)
        ordinal.withBytes { PendingRecord.append(.concluded, $0, to: &writer) }
    }
}
