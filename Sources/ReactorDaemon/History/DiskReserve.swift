import ReactorJournal

/// Bytes of the disk that are kept free for actions that make states smaller.
///
/// *Place*: in the ``HistoryKeeper``. On a disk that is full the reserve is released to the journal,
/// and a snapshot of the smaller states gives room: it replaces larger ones. *Owner*: the loop's
/// thread.
struct DiskReserve {
    /// Whether the bytes are kept.
    private(set) var isKept: Bool
    private let directory: DataDirectory
    private let byteCount: Int
    /// By how much states had become smaller when a snapshot was considered last.
    private var consideredByteCount = 0
    private var hasDroppedOlder = false
    /// Seconds until the reserve is looked for again.
    private var pause = 0

    /// What gives room.
    enum Relief: Equatable {
        /// Nothing that was not tried.
        case none
        /// A snapshot, for which there is room.
        case snapshot
        /// To keep no more than the newest snapshot.
        case dropOlder
    }

    /// Bytes beside a snapshot that are left to the journal.
    static let marginByteCount = 4 << 20

    init(in directory: DataDirectory, byteCount: Int) {
        self.directory = directory
        self.byteCount = byteCount
        isKept = directory.keepReserve(byteCount: byteCount)
    }

    /// Whether bytes should be kept, and are not.
    var isMissing: Bool { byteCount > 0 && !isKept }

    /// Gives the bytes to the journal; false where none are kept.
    mutating func release() -> Bool {
        guard isKept else { return false }
        directory.releaseReserve()
        isKept = false
        consideredByteCount = 0
        hasDroppedOlder = false
        return true
    }

    /// Keeps the bytes again, where the journal has room beside them; whether it has.
    mutating func regain() -> Bool {
        guard directory.keepReserve(byteCount: byteCount) else { return false }
        guard directory.hasRoom else {
            directory.releaseReserve()
            return false
        }
        isKept = true
        return true
    }

    /// Keeps the bytes again where they are missing; called once a second, and tries once a minute.
    mutating func tick() {
        guard isMissing else { return }
        pause -= 1
        guard pause <= 0 else { return }
        pause = 60
        _ = regain()
    }

    /// What gives room once states have become smaller by `shrunkByteCount`, and the journal has
    /// `freshByteCount` bytes behind the newest snapshot.
    mutating func relief(shrunkByteCount: Int, freshByteCount: Int) -> Relief {
        guard shrunkByteCount > consideredByteCount else { return .none }
        let newest = (try? SnapshotShelf(directory).newestByteCount()) ?? 0
        let needed = max(0, newest - shrunkByteCount) + freshByteCount + Self.marginByteCount
        // A snapshot that fails for lack of room would take the journal's as well.
        guard directory.hasRoom(for: needed) else {
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
