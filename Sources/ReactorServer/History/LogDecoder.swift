package import ReactorBytes
package import ReactorCore
package import ReactorWire

/// Decodes the rows of a journal into log entries: the actions and changes of each client, with
/// their time.
///
///     var decoder = LogDecoder()
///     while let part = try snapshot.next() { try decoder.learn(part: part) }
///     while let row = try reader.next() {
///         entries += try decoder.entries(of: row, at: time, below: path)
///     }
///
/// *Place*: between a journal's reader and `reactorctl log`; a sans-I/O value. It needs all rows,
/// in order: later rows name a node by its number, and an earlier row has its path. The paths are
/// its only state.
package struct LogDecoder: Sendable {
    /// Paths of nodes by their numbers in rows.
    private var paths = NodePaths()

    /// Knows only the root.
    package init() {}

    /// Learns the paths of the nodes in a snapshot's part.
    ///
    /// *Throws*: if the part is malformed.
    package mutating func learn(part: [UInt8]) throws(WireError) { try paths.learn(part: part) }

    /// Returns a row's entries about the node at `path` and the nodes below it; `time` is the
    /// row's, in milliseconds since 1970.
    ///
    /// *Throws*: if no daemon writes such a row.
    package mutating func entries(
        of batch: Batch, at time: Int64, below path: SlicePath
    ) throws(RecoveryError) -> [LogEntry] {
        defer { paths.settle() }
        do {
            var page = try LogRow(batch, at: time, &paths)
            return page.entries().filter { Self.isAbout($0, path) }
        } catch {
            throw .damaged("the row behind sequence \(batch.after): \(error)")
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

/// A decoded row.
private struct LogRow {
    /// An action of the row, with its outcome if the row has it.
    private struct Record {
        var entry: LogEntry
        var sequence: UInt64?
    }

    private let batch: Batch
    private let time: Int64
    private var records: [Record] = []
    private var indexes: [Origin: Int] = [:]
    private var changes: [UInt64: (origin: Origin, mutations: [LogMutation])] = [:]
    private var imports: [LogEntry] = []

    init(
        _ batch: Batch, at time: Int64, _ paths: inout NodePaths
    ) throws {
        self.batch = batch
        self.time = time
        let facts = try TurnFact.list(batch.facts.span)
        for case .layout(let layout) in facts { paths.learn(layout) }
        try readDeltas(&paths)
        for fact in facts { try read(fact, &paths) }
    }

    private mutating func readDeltas(_ paths: inout NodePaths) throws {
        let deltas = batch.deltas
        let bytes = deltas.storage.span.extracting(deltas.range)
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
            let path = Self.text(paths.path(of: header.id), header.id)
            while cursor.offset < end {
                let mutation = try WireEmbedded.decode(bytes, &cursor)
                if isStructural {
                    paths.learn(try mutation.decode(as: StructuralChange.self), of: header.id)
                }
                var change = changes[header.number] ?? (origin, [])
                change.mutations.append(
                    LogMutation(path: path, mutation: mutation, isStructural: isStructural))
                changes[header.number] = change
            }
            offset = end
        }
    }

    private mutating func read(_ fact: TurnFact, _ paths: inout NodePaths) throws {
        switch fact {
        case .run(let by, let ordinal, let sequence, let count, let nodes, let frames):
            try readRun(by, ordinal, from: sequence, count, nodes, frames.span, paths)
        case .action(let by, let ordinal, let nodes, let frame):
            let actions = try Self.actions(frame.span, at: 0, nodes, paths).actions
            add(by, ordinal, actions, nil)
        case .refused(let by, let ordinal, let nodes, let byteCount, let checksum):
            add(by, ordinal, [], nil)
            let omitted = nodes.map { Self.text(paths.path(of: $0.node), $0.node) }
            records[records.count - 1].entry.omitted = LogOmission(
                paths: omitted, byteCount: byteCount, checksum: checksum)
        case .outcome(let client, let ordinal, let outcome):
            guard let index = indexes[Origin(client: client, ordinal: ordinal)] else { return }
            records[index].entry.outcome = outcome
            records[index].sequence = outcome.sequence
        case .replaced(let nodes): try readImport(nodes, &paths)
        case .session, .goodbye, .evicted, .ownership, .task, .schemas, .layout, .made, .probe,
            .sums, .notice, .done, .term, .stepDown:
            break
        }
    }

    private mutating func readRun(
        _ by: ActionSource, _ ordinal: UInt64, from sequence: UInt64, _ count: UInt64,
        _ nodes: [NodeAlias], _ frames: Span<UInt8>, _ paths: NodePaths
    ) throws {
        var offset = 0
        // The last ordinal may be the largest number, so the loop counts from 0.
        for index in 0..<count {
            let (actions, end) = try Self.actions(frames, at: offset, nodes, paths)
            add(by, ordinal &+ index, actions, sequence &+ index)
            offset = end
        }
    }

    private mutating func readImport(_ nodes: [UInt8], _ paths: inout NodePaths) throws {
        var entry = LogEntry(
            revision: Revision(epoch: batch.epoch, sequence: batch.sequence), time: time)
        var cursor = WireCursor()
        while cursor.offset < nodes.count {
            let head = try NodeHead.decode(nodes.span, &cursor)
            try cursor.skip(in: nodes.span)
            paths.learn(head)
            entry.replaced.append(Self.text(paths.path(of: head.number), head.number))
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
        indexes[origin] = records.count
        records.append(Record(entry: entry, sequence: sequence))
    }

    /// The actions of the frame at `offset`, and the offset of its end.
    private static func actions(
        _ bytes: Span<UInt8>, at offset: Int, _ nodes: [NodeAlias], _ paths: NodePaths
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
            return (batch(body, header, nodes, paths), end)
        }
        let path = path(header.id, nodes, paths)
        guard let offset = actionOffset(in: body, header) else {
            return ([LogAction(path: path, bytes: body)], end)
        }
        // Options with `cancel` or `release` may be the whole body, without an action.
        if offset == body.count, offset > 0 {
            let isRelease = (try? DispatchOptions(wireBytes: body))?.release != nil
            return (isRelease ? [LogAction(path: path, bytes: body)] : [], end)
        }
        let action = body.extracting(offset..<body.count)
        return ([LogAction(path: path, bytes: action)], end)
    }

    /// The offset of a body's action; nil if its options cannot be decoded.
    private static func actionOffset(in body: Span<UInt8>, _ header: FrameHeader) -> Int? {
        guard header.flags.contains(.options) else { return 0 }
        var cursor = WireCursor()
        guard (try? cursor.skip(in: body)) != nil else { return nil }
        return cursor.offset
    }

    /// The actions of a batch; if it cannot be decoded, one action with all its bytes.
    private static func batch(
        _ body: Span<UInt8>, _ header: FrameHeader, _ nodes: [NodeAlias], _ paths: NodePaths
    ) -> [LogAction] {
        do throws(WireError) {
            guard let offset = actionOffset(in: body, header) else {
                throw WireError(.truncated, at: 0)
            }
            return try batchItems(body, from: offset, nodes, paths)
        } catch {
            // A client may send any bytes. The daemon refused an action that cannot be decoded.
            return [LogAction(path: SlicePath.root.description, bytes: body)]
        }
    }

    private static func batchItems(
        _ body: Span<UInt8>, from offset: Int, _ nodes: [NodeAlias], _ paths: NodePaths
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
            let path = Self.path(UInt32(clamping: id), nodes, paths)
            actions.append(
                LogAction(path: path, bytes: body.extracting(start..<cursor.offset)))
            while try cursor.nextElement(in: body, &pair) { try cursor.skip(in: body) }
        }
        return actions
    }

    private static func path(_ id: UInt32, _ nodes: [NodeAlias], _ paths: NodePaths) -> String {
        guard let node = nodes.last(where: { $0.id == id })?.node else { return "?" }
        return text(paths.path(of: node), node)
    }

    // For a node that was removed before the kept history begins, only the number is known.
    private static func text(_ path: SlicePath?, _ number: UInt32) -> String {
        path?.description ?? "?\(number)"
    }

    /// The entries in order: each transaction, then the refused actions that followed it.
    mutating func entries() -> [LogEntry] {
        for (sequence, change) in changes.sorted(by: { $0.key < $1.key }) {
            guard let index = indexes[change.origin], records[index].entry.outcome == nil,
                records[index].sequence == nil
            else { continue }
            records[index].sequence = sequence
        }
        var placed: [(sequence: UInt64, rank: Int, entry: LogEntry)] = []
        var last = batch.after
        for (rank, record) in records.enumerated() {
            var entry = record.entry
            if let sequence = record.sequence {
                entry.revision = Revision(epoch: batch.epoch, sequence: sequence)
                entry.mutations = changes.removeValue(forKey: sequence)?.mutations ?? []
                last = sequence
                placed.append((sequence, 0, entry))
            } else {
                placed.append((last, rank + 1, entry))
            }
        }
        for (sequence, change) in changes {
            let revision = Revision(epoch: batch.epoch, sequence: sequence)
            var entry = LogEntry(revision: revision, time: time, origin: change.origin)
            entry.mutations = change.mutations
            placed.append((sequence, 0, entry))
        }
        placed.sort { ($0.sequence, $0.rank) < ($1.sequence, $1.rank) }
        return placed.map(\.entry) + imports
    }
}

extension Outcome {
    /// The sequence of the transaction; nil for a refused action.
    fileprivate var sequence: UInt64? {
        switch self {
        case .applied(let sequence, _, _), .accepted(let sequence): sequence
        case .rejected, .failed: nil
        }
    }
}
