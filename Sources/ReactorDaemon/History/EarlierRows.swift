import ReactorCore
import ReactorJournal
import ReactorServer

/// The rows between the snapshot from which a start continues and the snapshot before it, or the
/// first row. No start replays them for its state.
///
/// If they are few, ``verify(_:_:)`` replays them into another tree, so that a changed `reduce` is
/// found although a clean stop has taken a snapshot. They and the snapshot before them are then at
/// most ``byteCountMax`` each.
///
/// *Place*: the start and `reactord --check`, after they have restored the state. *Owner*: one
/// thread.
struct EarlierRows {
    /// The result of a verification.
    enum Finding: Equatable {
        /// There are no such rows of the snapshot's epoch.
        case none
        /// The replay led to every recorded checksum, and a checksum follows the last row.
        case verified
        /// Some or all were not verified: which, and the reason.
        case unverified(String)
    }

    /// Maximum bytes of the rows, and of the earlier snapshot's file.
    static let byteCountMax = 1 << 20

    private let directory: DataDirectory
    private let position: JournalPosition
    /// The row number of the snapshot before; nil to begin with the first row.
    private let earlier: UInt64?
    private let dropped: [SlicePath]

    /// Locates the rows before the snapshot of row `number`; nil if they were trimmed.
    init?(
        before number: UInt64, in directory: DataDirectory, dropped: [SlicePath]
    ) throws(JournalError) {
        self.directory = directory
        self.dropped = dropped
        position = try SnapshotReader(directory, of: number).header.position
        earlier = try SnapshotStore(directory).numbers().first { $0 < number }
        let anchor = try JournalReader(directory).anchor.number
        guard earlier.map({ $0 >= anchor }) ?? (anchor == 0) else { return nil }
    }

    /// Replays the rows into a tree of `root`, with the limits of the daemon.
    ///
    /// *Throws*: ``RecoveryError/diverged(path:sequence:)``. Any other obstacle is a reason why the
    /// rows are unverified: the start does not need them.
    func verify(_ root: some Reactor, _ limits: ServerLimits) throws(DaemonError) -> Finding {
        var reader: JournalReader?
        let recovery: Recovery
        do {
            let size = try earlier.flatMap { try SnapshotStore(directory).byteCount(of: $0) } ?? 0
            guard size <= Self.byteCountMax else { return unverified("\(size) bytes of states") }
            let tree = Tree(root, epoch: 0, recordsDeltas: false)
            recovery = Recovery(of: tree, limits: limits, dropped: dropped)
            recovery.showOnly()
            let snapshot = try earlier.map { try SnapshotReader(directory, of: $0) }
            // A rebaseline has accepted what earlier epochs do not lead to.
            if let snapshot, snapshot.header.position.epoch != position.epoch { return .none }
            while let part = try snapshot?.next() { try recovery.restore(part) }
            let rows = try JournalReader(directory, behind: snapshot?.header.position)
            reader = rows
            guard try replay(rows, recovery) else { return .none }
        } catch let error as RecoveryError {
            guard case .diverged = error else { return unverified("\(error)") }
            throw .recovery(
                error,
                place:
                    "\(directory.path), row \(reader?.position.number ?? 0), before the snapshot "
                    + "of row \(position.number)")
        } catch let error as TooLong {
            return unverified("more than \(error.byteCount) bytes")
        } catch {
            return unverified("\(error)")
        }
        let rest = recovery.unverified
        return rest.count == 0
            ? .verified : .unverified("\(rest): no checksum of the state follows them")
    }

    /// Replays the rows, and the checksums behind the snapshot that belong to them. Returns false at
    /// a row of another epoch.
    private func replay(_ rows: JournalReader, _ recovery: Recovery) throws -> Bool {
        var byteCount = 0
        while let row = try rows.next() {
            let isLater = row.number > position.number
            guard row.epoch == position.epoch else { return isLater }
            if isLater, row.sequence != row.after { break }
            byteCount += row.deltas.count + row.facts.count
            guard byteCount <= Self.byteCountMax else {
                throw TooLong(byteCount: Self.byteCountMax)
            }
            try recovery.replay(row.batch)
        }
        return true
    }

    private func unverified(_ reason: String) -> Finding {
        .unverified("rows \((earlier ?? 0) + 1) to \(position.number): \(reason)")
    }

    /// Rows of more than ``EarlierRows/byteCountMax``.
    private struct TooLong: Error { let byteCount: Int }
}
