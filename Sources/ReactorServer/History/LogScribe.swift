public import ReactorCore
public import ReactorWire

/// Says who did what when, of rows of the past.
///
///     var scribe = LogScribe()
///     while let part = try snapshot.next() { try scribe.places.learn(part: part) }
///     while let row = try reader.next() {
///         entries += try scribe.entries(of: row, at: time, below: path)
///     }
///
/// *Place*: between a journal's reader and `reactorctl log`; a sans-I/O value. Rows come in order, and
/// all of them, because a row tells where the nodes of later ones stand.
public struct LogScribe: Sendable {
    /// Where the nodes stand that rows speak of.
    public var places = PlaceBook()

    /// Knows nothing but the root.
    public init() {}

    /// What a row tells of the node at `path` and those below it; `time` is the row's, in
    /// milliseconds since 1970.
    ///
    /// *Throws*: where the row is not what a daemon writes.
    public mutating func entries(
        of row: HistoryRow, at time: Int64, below path: SlicePath
    ) throws(RecoveryError) -> [LogEntry] {
        defer { places.settle() }
        do {
            var page = try LogRow(row, at: time, &places)
            return page.entries().filter { Self.isAbout($0, path) }
        } catch {
            throw .damaged("the row behind sequence \(row.after): \(error)")
        }
    }

    private static func isAbout(_ entry: LogEntry, _ path: SlicePath) -> Bool {
        if path.components.isEmpty { return true }
        let paths =
            entry.actions.map(\.path) + entry.mutations.map(\.path) + entry.replaced
            + (entry.omitted?.paths ?? [])
        return paths.contains { text in
            guard let found = try? SlicePath(text) else { return false }
            return found.components.starts(with: path.components)
        }
    }
}

/// One row, taken to pieces.
private struct LogRow {
    /// An action of the row, and what became of it as far as the row knows.
    private struct Deed {
        var entry: LogEntry
        var sequence: UInt64?
    }

    private let row: HistoryRow
    private let time: Int64
    private var deeds: [Deed] = []
    private var indexes: [Origin: Int] = [:]
    private var changes: [UInt64: (origin: Origin, mutations: [LogMutation])] = [:]
    private var imports: [LogEntry] = []

    init(
        _ row: HistoryRow, at time: Int64, _ places: inout PlaceBook
    ) throws {
        self.row = row
        self.time = time
        let facts = try TurnFact.list(row.facts.span)
        for case .layout(let layout) in facts { places.learn(layout) }
        try readDeltas(&places)
        for fact in facts { try read(fact, &places) }
    }

    private mutating func readDeltas(_ places: inout PlaceBook) throws {
        let deltas = row.deltas
        let bytes = deltas.span
        var offset = 0
        while let header = try FrameHeader.decode(
            bytes, at: offset, frameBytesMax: Int(UInt32.max))
        {
            let end = offset + FrameHeader.byteCount + Int(header.length)
            guard header.kind == FrameKind.delta.rawValue, end <= bytes.count else {
                throw FrameError(.unknownKind(header.kind), at: offset)
            }
            var cursor = WireCursor(offset: offset + FrameHeader.byteCount)
            let origin = try Origin.decode(bytes, &cursor)
            let isStructural = header.flags.contains(.structural)
            let path = Self.text(places.path(of: header.id), header.id)
            while cursor.offset < end {
                let mutation = try WireEmbedded.decode(bytes, &cursor)
                if isStructural {
                    places.learn(try mutation.decode(as: StructuralChange.self), of: header.id)
                }
                var change = changes[header.number] ?? (origin, [])
                change.mutations.append(
                    LogMutation(path: path, mutation: mutation, isStructural: isStructural))
                changes[header.number] = change
            }
            offset = end
        }
    }

    private mutating func read(_ fact: TurnFact, _ places: inout PlaceBook) throws {
        switch fact {
        case .run(let by, let ordinal, let sequence, let count, let nodes, let frames):
            try readRun(by, ordinal, from: sequence, count, nodes, frames.span, places)
        case .action(let by, let ordinal, let nodes, let frame):
            let actions = try Self.actions(frame.span, at: 0, nodes, places).actions
            add(by, ordinal, actions, nil)
        case .refused(let by, let ordinal, let nodes, let byteCount, let checksum):
            add(by, ordinal, [], nil)
            let paths = nodes.map { Self.text(places.path(of: $0.node), $0.node) }
            deeds[deeds.count - 1].entry.omitted = LogOmission(
                paths: paths, byteCount: byteCount, checksum: checksum)
        case .outcome(let client, let ordinal, let outcome):
            guard let index = indexes[Origin(client: client, ordinal: ordinal)] else { return }
            deeds[index].entry.outcome = outcome
            deeds[index].sequence = outcome.sequence
        case .replaced(let nodes): try readImport(nodes, &places)
        case .session, .goodbye, .evicted, .ownership, .task, .layout, .made, .probe, .sums:
            break
        }
    }

    private mutating func readRun(
        _ by: ActionSource, _ ordinal: UInt64, from sequence: UInt64, _ count: UInt64,
        _ nodes: [NodeAlias], _ frames: Span<UInt8>, _ places: PlaceBook
    ) throws {
        var offset = 0
        // because the last ordinal may be the largest there is
        for index in 0..<count {
            let (actions, end) = try Self.actions(frames, at: offset, nodes, places)
            add(by, ordinal &+ index, actions, sequence &+ index)
            offset = end
        }
    }

    private mutating func readImport(_ nodes: [UInt8], _ places: inout PlaceBook) throws {
        var entry = LogEntry(
            revision: Revision(epoch: row.epoch, sequence: row.sequence), time: time)
        var cursor = WireCursor()
        while cursor.offset < nodes.count {
            let head = try NodeHead.decode(nodes.span, &cursor)
            try cursor.skip(in: nodes.span)
            places.learn(head)
            entry.replaced.append(Self.text(places.path(of: head.number), head.number))
        }
        imports.append(entry)
    }

    private mutating func add(
        _ by: ActionSource, _ ordinal: UInt64, _ actions: [LogAction], _ sequence: UInt64?
    ) {
        let origin = Origin(client: by.client, ordinal: ordinal)
        var entry = LogEntry(time: time, origin: origin)
        entry.caller = LogCaller(uid: by.uid, gid: by.gid, pid: by.pid)
        entry.actions = actions
        if let sequence { entry.outcome = .applied(sequence: sequence) }
        indexes[origin] = deeds.count
        deeds.append(Deed(entry: entry, sequence: sequence))
    }

    /// The actions of the frame at `offset`, and where it ends.
    private static func actions(
        _ bytes: Span<UInt8>, at offset: Int, _ nodes: [NodeAlias], _ places: PlaceBook
    ) throws -> (actions: [LogAction], end: Int) {
        guard
            let header = try FrameHeader.decode(
                bytes, at: offset, frameBytesMax: Int(UInt32.max))
        else { throw FrameError(.unknownKind(0), at: offset) }
        let start = offset + FrameHeader.byteCount
        let end = start + Int(header.length)
        guard end <= bytes.count else { throw FrameError(.unknownKind(header.kind), at: offset) }
        let body = bytes.extracting(start..<end)
        if header.kind == FrameKind.batch.rawValue {
            return (batch(body, header, nodes, places), end)
        }
        let path = path(header.id, nodes, places)
        guard let offset = actionOffset(in: body, header) else {
            return ([LogAction(path: path, bytes: body)], end)
        }
        // because the action may be left out behind options with `cancel`
        if offset == body.count, offset > 0 { return ([], end) }
        let action = body.extracting(offset..<body.count)
        return ([LogAction(path: path, bytes: action)], end)
    }

    /// Where a body's action starts; nil where its options cannot be read.
    private static func actionOffset(in body: Span<UInt8>, _ header: FrameHeader) -> Int? {
        guard header.flags.contains(.options) else { return 0 }
        var cursor = WireCursor()
        guard (try? cursor.skip(in: body)) != nil else { return nil }
        return cursor.offset
    }

    /// The actions of a batch; one of all its bytes where it cannot be taken to pieces.
    private static func batch(
        _ body: Span<UInt8>, _ header: FrameHeader, _ nodes: [NodeAlias], _ places: PlaceBook
    ) -> [LogAction] {
        do throws(WireError) {
            guard let offset = actionOffset(in: body, header) else {
                throw WireError(.truncated, at: 0)
            }
            return try batchItems(body, from: offset, nodes, places)
        } catch {
            // because a client may send anything: what cannot be read was refused
            return [LogAction(path: SlicePath.root.description, bytes: body)]
        }
    }

    private static func batchItems(
        _ body: Span<UInt8>, from offset: Int, _ nodes: [NodeAlias], _ places: PlaceBook
    ) throws(WireError) -> [LogAction] {
        var actions: [LogAction] = []
        var cursor = WireCursor(offset: offset)
        var list = try cursor.openArray(in: body)
        while try cursor.nextElement(in: body, &list) {
            var pair = try cursor.openArray(in: body)
            guard try cursor.nextElement(in: body, &pair) else { continue }
            let id = try cursor.unsigned(in: body)
            guard try cursor.nextElement(in: body, &pair) else { continue }
            let start = cursor.offset
            try cursor.skip(in: body)
            let path = Self.path(UInt32(clamping: id), nodes, places)
            actions.append(
                LogAction(path: path, bytes: body.extracting(start..<cursor.offset)))
            while try cursor.nextElement(in: body, &pair) { try cursor.skip(in: body) }
        }
        return actions
    }

    private static func path(_ id: UInt32, _ nodes: [NodeAlias], _ places: PlaceBook) -> String {
        guard let node = nodes.last(where: { $0.id == id })?.node else { return "?" }
        return text(places.path(of: node), node)
    }

    // because a node that came and went before the history that is kept has left its number alone
    private static func text(_ path: SlicePath?, _ number: UInt32) -> String {
        path?.description ?? "?\(number)"
    }

    /// What happened, in order: transactions, and behind each what came to nothing after it.
    mutating func entries() -> [LogEntry] {
        for (sequence, change) in changes.sorted(by: { $0.key < $1.key }) {
            guard let index = indexes[change.origin], deeds[index].entry.outcome == nil,
                deeds[index].sequence == nil
            else { continue }
            deeds[index].sequence = sequence
        }
        var placed: [(sequence: UInt64, rank: Int, entry: LogEntry)] = []
        var last = row.after
        for (rank, deed) in deeds.enumerated() {
            var entry = deed.entry
            if let sequence = deed.sequence {
                entry.revision = Revision(epoch: row.epoch, sequence: sequence)
                entry.mutations = changes.removeValue(forKey: sequence)?.mutations ?? []
                last = sequence
                placed.append((sequence, 0, entry))
            } else {
                placed.append((last, rank + 1, entry))
            }
        }
        for (sequence, change) in changes {
            let revision = Revision(epoch: row.epoch, sequence: sequence)
            var entry = LogEntry(revision: revision, time: time, origin: change.origin)
            entry.mutations = change.mutations
            placed.append((sequence, 0, entry))
        }
        placed.sort { ($0.sequence, $0.rank) < ($1.sequence, $1.rank) }
        return placed.map(\.entry) + imports
    }
}

extension Outcome {
    /// The sequence of the transaction, if there was one.
    fileprivate var sequence: UInt64? {
        switch self {
        case .applied(let sequence, _, _), .accepted(let sequence): sequence
        case .rejected, .failed: nil
        }
    }
}
