import ReactorBytes
import ReactorCore
import ReactorLoop

/// Keeps a client's actions without an outcome where they outlive its process.
///
/// *Place*: ``ClientMachine`` hands it what is about to leave, and what waits, once a turn; what was
/// kept before is read when it is made. *Cost*: one write a turn in which there are new actions.
final class ClientJournal {
    /// What an earlier run left.
    private var recovered: PendingState
    /// Actions up to this ordinal are in it.
    private(set) var keptLast: UInt64
    /// It says that every outcome up to this ordinal has arrived.
    private(set) var concluded: UInt64
    /// True where all of it has to be rewritten before anything leaves.
    private(set) var needsRewrite = true
    private let store: any PendingStore
    private var session: KeptSession
    private var paths: [UInt32: String] = [:]
    /// How long it may be before it is rewritten.
    private var rewriteByteCount = ClientJournal.byteCountMin

    /// Length below which it is not worth while to leave out what has an outcome.
    static let byteCountMin = 1 << 20

    /// Reads what is in `store`, and cuts off an end that was torn.
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
    /// *Throws*: ``FaultCode/sessionBusy`` where another has it.
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

    /// What an earlier run left, for the run that continues it.
    func takeRecovered() -> PendingState {
        defer { recovered.frames = [:] }
        return recovered
    }

    /// The daemon speaks of the session with this secret, in this epoch; it did so first at the
    /// sequence `since`.
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
    /// Frames of actions, and which paths they mean.
    struct Portion: ~Copyable {
        var frames = WireWriter()
        var nodes: Set<UInt32> = []

        mutating func add(_ frame: Span<UInt8>) {
            frames.raw(frame)
            if frame[4] == FrameKind.batch.rawValue {
                nodes.formUnion(ActionFrames.nodes(of: frame))
            } else {
                nodes.insert(UInt32(frame.word(at: 8, byteCount: 4)))
            }
        }
    }

    /// Puts new actions behind what is there; `last` is the ordinal of the last of them, and every
    /// outcome up to `concluded` has arrived.
    func append(
        _ portion: borrowing Portion, last: UInt64, concluded: UInt64,
        path: (UInt32) -> String?
    ) throws(ClientError) {
        var writer = WireWriter()
        for node in portion.nodes.sorted() {
            guard let path = path(node), paths[node] != path else { continue }
            write(node, path, to: &writer)
        }
        if portion.frames.count > 0 {
            portion.frames.withBytes { PendingRecord.append(.actions, $0, to: &writer) }
        }
        if concluded > self.concluded { write(concluded: concluded, to: &writer) }
        keptLast = last
        guard writer.count > 0 else { return }
        let bytes = writer.bytes
        try Self.reading { () throws(LoopError) in try store.append(bytes) }
        needsRewrite = store.byteCount > rewriteByteCount
    }

    /// Rewrites all of it: the session, and these actions.
    func rewrite(
        _ portion: borrowing Portion, last: UInt64, concluded: UInt64,
        path: (UInt32) -> String?
    ) throws(ClientError) {
        var writer = WireWriter()
        writer.raw(PendingRecord.magic)
        session.last = max(last, session.last)
        PendingRecord.append(.session, session.wireBytes().span, to: &writer)
        paths = [:]
        for node in portion.nodes.sorted() {
            if let path = path(node) { write(node, path, to: &writer) }
        }
        if portion.frames.count > 0 {
            portion.frames.withBytes { PendingRecord.append(.actions, $0, to: &writer) }
        }
        write(concluded: concluded, to: &writer)
        let bytes = writer.bytes
        try Self.reading { () throws(LoopError) in try store.replace(with: bytes) }
        keptLast = max(keptLast, last)
        needsRewrite = false
        rewriteByteCount = max(Self.byteCountMin, 2 * bytes.count)
    }

    /// Forgets the session: there is nothing to go on with.
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
