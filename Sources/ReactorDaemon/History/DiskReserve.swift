import ReactorJournal

/// Disk space kept free for actions that make states smaller.
///
/// *Place*: in the ``HistoryKeeper``. When the disk is full, the reserve is released to the
/// journal. A snapshot of the smaller states then frees space, since it replaces larger ones.
/// *Owner*: the loop's thread.
struct DiskReserve {
    /// Whether the space is reserved on the disk.
    private(set) var isKept: Bool
    private let directory: DataDirectory
    private let disk: DiskSpace
    private let byteCount: Int
    /// The `shrunkByteCount` of the last call of `relief` that offered or ruled out a snapshot.
    private var consideredByteCount = 0
    private var hasDroppedOlder = false
    /// Seconds until the next attempt to reserve the space.
    private var pause = 0

    /// A way to free disk space.
    enum Relief: Equatable {
        /// No further way: every one was tried.
        case none
        /// Take a snapshot; the disk has room for it.
        case snapshot
        /// Remove all snapshots except the newest.
        case dropOlder
    }

    /// Bytes of disk that the directory occupies, without the reserve; nil if it cannot be read.
    var occupiedByteCount: Int? { disk.occupiedByteCount }

    /// Bytes left to the journal beside a snapshot.
    static let marginByteCount = 4 << 20

    init(in directory: DataDirectory, byteCount: Int) {
        self.directory = directory
        self.byteCount = byteCount
        disk = DiskSpace(of: directory)
        isKept = disk.keepReserve(byteCount: byteCount)
    }

    /// Whether space should be reserved and is not.
    var isMissing: Bool { byteCount > 0 && !isKept }

    /// Releases the reserved space to the journal; returns false if none was reserved.
    mutating func release() -> Bool {
        guard isKept else { return false }
        disk.releaseReserve()
        isKept = false
        consideredByteCount = 0
        hasDroppedOlder = false
        return true
    }

    /// Reserves the space again if the journal keeps enough room; returns whether it did.
    mutating func regain() -> Bool {
        guard disk.keepReserve(byteCount: byteCount) else { return false }
        guard JournalSpace(in: directory).hasRoom else {
            disk.releaseReserve()
            return false
        }
        isKept = true
        return true
    }

    /// Tries once a minute to reserve missing space. The shell calls this once a second.
    mutating func tick() {
        guard isMissing else { return }
        pause -= 1
        guard pause <= 0 else { return }
        pause = 60
        _ = regain()
    }

    /// Returns the next way to free space, once states have shrunk by `shrunkByteCount` and the
    /// journal holds `freshByteCount` bytes after the newest snapshot.
    mutating func relief(shrunkByteCount: Int, freshByteCount: Int) -> Relief {
        guard shrunkByteCount > consideredByteCount else { return .none }
        let newest = (try? SnapshotStore(directory).newestByteCount()) ?? 0
        let needed = max(0, newest - shrunkByteCount) + freshByteCount + Self.marginByteCount
        // A snapshot that fills the disk would also take the journal's room.
        guard disk.hasRoom(for: needed) else {
            if hasDroppedOlder {
                consideredByteCount = shrunkByteCount
                return .none
            }
            hasDroppedOlder = true
            return .dropOlder
        }
        consideredByteCount = shrunkByteCount
        return .snapshot
    }
}
