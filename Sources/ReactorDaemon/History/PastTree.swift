import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorWire

/// A tree restored from the history at some revision; clients are not served from it.
///
/// *Place*: `reactorctl get --at`, `export`, `reactord replay` and `--check`; in a running daemon
/// on the archive's thread, over the same directory. *Owner*: one thread. *Cost*: memory for a
/// second tree; as much time as a start.
final class PastTree {
    let tree: Tree
    /// The revision of the tree's state.
    private(set) var revision = Revision(epoch: 0, sequence: 0)
    /// Whether a snapshot or a row has set ``revision``.
    private var isPlaced = false
    /// The row number of the snapshot it was restored from, nil without one.
    private(set) var snapshotNumber: UInt64?
    /// Number of replayed rows.
    private(set) var rowCount: UInt64 = 0
    /// Newer snapshots that could not be read.
    private(set) var passedOver: [JournalError] = []
    /// Paths of reactors that are not in the history.
    var newPaths: [SlicePath] { recovery.newPaths }
    /// Paths of reactors in the history that no longer exist.
    var lostPaths: [SlicePath] { recovery.lostPaths }
    /// The differences between the history and today's reactors, if they are collected.
    let survey: RecoverySurvey?
    /// The replayed rows that no checksum verifies.
    var unverified: UnverifiedRows { recovery.unverified }
    let directory: DataDirectory
    private let recovery: Recovery
    private let isCancelled: () -> Bool

    /// Restores `root` as of `target`, or as of the history's end. With `surveys`, differences between
    /// the history and the reactors are collected instead of thrown. With `fromFirstRow`, no snapshot
    /// is read.
    init(
        _ root: some Reactor, in directory: DataDirectory, at target: Revision? = nil,
        limits: ServerLimits, dropped: [SlicePath], surveys: Bool = false,
        fromFirstRow: Bool = false, isCancelled: @escaping () -> Bool = { false }
    ) throws(PastError) {
        self.directory = directory
        self.isCancelled = isCancelled
        tree = Tree(root, epoch: 0, recordsDeltas: false)
        recovery = Recovery(of: tree, limits: limits, dropped: dropped)
        survey = surveys ? recovery.beginSurvey() : nil
        if target != nil { recovery.showOnly() }
        let snapshot = fromFirstRow ? nil : try choose(before: target)
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

    /// Returns the newest snapshot that is not later than `target`; nil to start from the first
    /// row.
    private func choose(before target: Revision?) throws(PastError) -> SnapshotReader? {
        let snapshots = SnapshotStore(directory)
        let newest = try Self.reading { () throws(JournalError) in
            try snapshots.choose(isCancelled: isCancelled)
        }
        passedOver = newest.passedOver
        guard let target else { return newest.snapshot }
        var earliest: SnapshotReader?
        for number in try Self.reading({ () throws(JournalError) in try snapshots.numbers() }) {
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
        // Whether a snapshot of another epoch precedes the target is unknown.
        guard let earliest, earliest.header.position.epoch != target.epoch else {
            let position = earliest?.header.position ?? anchor
            let first = Revision(epoch: position.epoch, sequence: position.sequence)
            throw .outOfReach(
                "states are kept from revision \(first) on, and \(target) is older")
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
                // The earlier state is of another epoch and has a revision of that epoch.
                let first = Revision(epoch: row.epoch, sequence: row.after)
                throw .outOfReach(
                    "revision \(target) is not in the history: its epoch begins at \(first)")
            }
            let last = row.epoch == target?.epoch ? target?.sequence ?? .max : .max
            do throws(RecoveryError) {
                try recovery.replay(row.batch, upTo: last)
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

    /// Reads a revision, or a sequence number of the last epoch of the history in `directory`.
    static func revision(
        _ text: String, _ directory: DataDirectory
    ) throws(PastError) -> Revision {
        if let revision = Revision(text) { return revision }
        guard let sequence = UInt64(text) else {
            throw .outOfReach("\(text): expected a revision such as 9f86d081884c7d65:42, or 42")
        }
        let epoch = try reading { () throws(JournalError) in
            let reader = try JournalReader(directory)
            var epoch = reader.anchor.epoch
            // A copy ends with a row of epoch 0, to which no revision belongs.
            while let row = try reader.next() { if row.epoch != 0 { epoch = row.epoch } }
            return epoch
        }
        return Revision(epoch: epoch, sequence: sequence)
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
    /// Encodes the revision, whether the slice at `text` exists, and its value, in the format of
    /// the answer to `get`. Nothing exists below the first `seenCount` names of the path.
    func answer(_ text: String, seenCount: Int? = nil) throws(PastError) -> [UInt8] {
        var writer = WireWriter()
        writer.array(count: 3)
        revision.encode(into: &writer)
        var value = WireWriter()
        switch tree.root.encodeValue(at: try Self.place(text, seenCount)[...], into: &value) {
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

    /// Removes what former connections own, as a start does. In another daemon those connections
    /// never return to release it.
    func endFormerConnections() { tree.endFormerConnections() }

    /// Returns the states at and below `text`, without the first `skip` nodes, as many as fit a
    /// page. Nothing exists below the first `seenCount` names of the path.
    func page(
        _ text: String, skip: UInt64, bytesMax: Int, seenCount: Int? = nil
    ) throws(PastError) -> StatePage {
        let path = SlicePath(try Self.place(text, seenCount))
        guard let top = tree.node(at: path) else {
            throw .noSlice("no node at \(text) at revision \(revision)")
        }
        if top.isDerived {
            throw .noSlice(
                "\(text) is a derived value, which has no state of its own: use get --at")
        }
        var page = StatePage(revision: revision, nodes: [], next: nil)
        var index: UInt64 = 0
        var byteCount = 0
        tree.forEachNode { node in
            guard node.path.components.starts(with: path.components), page.next == nil,
                !node.isDerived
            else { return }
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

    /// The names of a path; the name after `seenCount` is replaced by a name that no node has.
    private static func place(
        _ text: String, _ seenCount: Int?
    ) throws(PastError) -> [WireKey] {
        var names = try path(text).components
        // A path contains no NUL.
        if let seenCount, names.indices.contains(seenCount) { names[seenCount] = "\0" }
        return names
    }

    static func path(_ text: String) throws(PastError) -> SlicePath {
        do throws(SlicePathError) {
            return try SlicePath(text)
        } catch {
            throw .noSlice("\(error)")
        }
    }
}
