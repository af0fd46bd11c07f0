import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorWire

/// A tree as a history left it at some revision, which nobody is served from.
///
/// *Place*: `reactorctl get --at`, `export`, `reactord replay` and `--check`; beside a running daemon on
/// a thread of its own, over the same directory. *Owner*: one thread. *Cost*: memory for a second
/// tree; time as a start takes.
final class PastTree {
    let tree: Tree
    /// What it is as of.
    private(set) var revision = Revision(epoch: 0, sequence: 0)
    /// Whether a snapshot or a row has said so.
    private var isPlaced = false
    /// Which snapshot it was made from, if it was from one.
    private(set) var snapshotNumber: UInt64?
    /// Rows that were replayed.
    private(set) var rowCount: UInt64 = 0
    /// Newer snapshots that could not be used.
    private(set) var passedOver: [JournalError] = []
    /// Where reactors stand that the history does not have.
    var newPaths: [SlicePath] { recovery.newPaths }
    /// Where reactors stood that were given up.
    var lostPaths: [SlicePath] { recovery.lostPaths }
    private let directory: DataDirectory
    private let recovery: Recovery
    private let isCancelled: () -> Bool

    /// Makes `root` again as it was at `target`, or as it was last.
    init(
        _ root: some Reactor, in directory: DataDirectory, at target: Revision? = nil,
        limits: ServerLimits, dropped: [SlicePath], isCancelled: @escaping () -> Bool = { false }
    ) throws(PastError) {
        self.directory = directory
        self.isCancelled = isCancelled
        tree = Tree(root, epoch: 0, recordsDeltas: false)
        recovery = Recovery(of: tree, limits: limits, dropped: dropped)
        recovery.goesOn = target == nil
        let snapshot = try choose(before: target)
        if let snapshot { try restore(snapshot) }
        let reader = try Self.reading { () throws(JournalError) in
            try JournalReader(directory, behind: snapshot?.header.position)
        }
        try replay(reader, upTo: target)
        do throws(RecoveryError) {
            _ = try recovery.finish(epoch: revision.epoch, sequence: revision.sequence)
        } catch {
            throw .recovery(error, place: directory.path)
        }
    }

    /// The newest snapshot that is of no later time than `target`; nil to start from the first row.
    private func choose(before target: Revision?) throws(PastError) -> SnapshotReader? {
        let shelf = SnapshotShelf(directory)
        let newest = try Self.reading { () throws(JournalError) in
            try shelf.choose(isCancelled: isCancelled)
        }
        passedOver = newest.passedOver
        guard let target else { return newest.snapshot }
        var earliest: SnapshotReader?
        for number in try Self.reading({ () throws(JournalError) in try shelf.numbers() }) {
            guard let reader = try? SnapshotReader(directory, of: number) else { continue }
            let position = reader.header.position
            if position.epoch == target.epoch, position.sequence <= target.sequence {
                return reader
            }
            earliest = reader
        }
        let anchor = try Self.reading { () throws(JournalError) in
            try JournalReader(directory).anchor
        }
        if anchor.number == 0 { return nil }
        // because a snapshot of another epoch may be of a time before, or not
        guard let earliest, earliest.header.position.epoch != target.epoch else {
            let position = earliest?.header.position ?? anchor
            let first = Revision(epoch: position.epoch, sequence: position.sequence)
            throw .outOfReach(
                "states are kept back to revision \(first), and \(target) was before that")
        }
        return earliest
    }

    private func restore(_ snapshot: SnapshotReader) throws(PastError) {
        let position = snapshot.header.position
        snapshotNumber = position.number
        revision = Revision(epoch: position.epoch, sequence: position.sequence)
        isPlaced = true
        while let part = try Self.reading({ () throws(JournalError) in try snapshot.next() }) {
            if isCancelled() { throw .ended }
            do throws(RecoveryError) {
                try recovery.restore(part)
            } catch {
                throw .recovery(error, place: snapshot.file)
            }
        }
    }

    private func replay(
        _ reader: JournalReader, upTo target: Revision?
    ) throws(PastError) {
        while let row = try Self.reading({ () throws(JournalError) in try reader.next() }) {
            if isCancelled() { throw .ended }
            if let target, isPlaced, revision.epoch == target.epoch,
                row.epoch != target.epoch || row.after >= target.sequence
            {
                break
            }
            if let target, row.epoch == target.epoch, row.after > target.sequence {
                // because what stood there before was of another epoch, and has a revision of that
                let first = Revision(epoch: row.epoch, sequence: row.after)
                throw .outOfReach(
                    "revision \(target) is not in the history: its epoch begins at \(first)")
            }
            let last = row.epoch == target?.epoch ? target?.sequence ?? .max : .max
            do throws(RecoveryError) {
                try recovery.replay(HistoryRow(row), upTo: last)
            } catch {
                throw .recovery(error, place: "\(directory.path), row \(row.number)")
            }
            rowCount += 1
            isPlaced = true
            revision = Revision(epoch: row.epoch, sequence: min(row.sequence, last))
        }
        guard let target, revision != target else { return }
        throw .outOfReach("revision \(target) is not in the history, which ends at \(revision)")
    }

    static func reading<Result>(
        _ body: () throws(JournalError) -> Result
    ) throws(PastError) -> Result {
        do throws(JournalError) {
            return try body()
        } catch {
            throw .journal(error)
        }
    }
}

extension PastTree {
    /// The value of the slice at `text`, and whether something stands there, as `get` answers.
    func answer(_ text: String) throws(PastError) -> [UInt8] {
        var writer = WireWriter()
        writer.array(count: 3)
        revision.encode(into: &writer)
        var value = WireWriter()
        switch tree.root.encodeValue(at: try Self.path(text).components[...], into: &value) {
        case .found:
            writer.bool(true)
            value.withBytes { writer.raw($0) }
        case .absent:
            writer.bool(false)
            writer.null()
        case .impossible:
            throw .noSlice("no node or field at \(text) at revision \(revision)")
        }
        return writer.bytes
    }

    /// Ends what connections own, as a start does: whose states go elsewhere, nobody comes back to
    /// let go of there.
    func endFormerConnections() { tree.endFormerConnections() }

    /// The states at and below `text`, all but the first `skip`, as many as fit a page.
    func page(_ text: String, skip: UInt64, bytesMax: Int) throws(PastError) -> StatePage {
        let path = try Self.path(text)
        guard tree.node(at: path) != nil else {
            throw .noSlice("no node at \(text) at revision \(revision)")
        }
        var page = StatePage(revision: revision, nodes: [], next: nil)
        var index: UInt64 = 0
        var byteCount = 0
        tree.forEachNode { node in
            guard node.path.components.starts(with: path.components), page.next == nil else {
                return
            }
            defer { index += 1 }
            if index < skip { return }
            guard byteCount < bytesMax else {
                page.next = index
                return
            }
            var state = WireWriter()
            node.encodeState(into: &state)
            byteCount += state.count + 64
            guard let state = try? WireEmbedded(wireBytes: state.bytes) else { return }
            page.nodes.append(
                StateOfNode(
                    path: node.path.description, reactor: node.reactorName, state: state))
        }
        return page
    }

    static func path(_ text: String) throws(PastError) -> SlicePath {
        do throws(SlicePathError) {
            return try SlicePath(text)
        } catch {
            throw .noSlice("\(error)")
        }
    }
}

extension HistoryRow {
    /// The row as a journal kept it.
    init(_ row: JournalRow) {
        self.init(
            epoch: row.epoch, after: row.after, sequence: row.sequence, deltas: row.deltas,
            facts: row.facts)
    }
}
