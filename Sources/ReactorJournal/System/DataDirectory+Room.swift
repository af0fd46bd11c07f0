import GRDB
import Glibc

extension DataDirectory {
    /// Bytes that must be had before a full disk counts as one with room again.
    // because a log of that size may have to be made anew
    static let roomByteCount = 32 << 20

    /// Whether there is room for the journal to go on: on the disk, or in the file, which does not
    /// get shorter when rows are removed.
    public var hasRoom: Bool {
        hasRoom(for: Self.roomByteCount) || freeByteCount >= Self.roomByteCount
    }

    /// Bytes of the file that hold nothing, if its log is as long already as it gets; else 0,
    /// because a commit goes to the log first.
    var freeByteCount: Int {
        guard let logByteCount = try? byteCount(of: JournalFile.logName),
            logByteCount >= JournalTuning().grownByteCount,
            let database = try? JournalFile.reader(in: self),
            let words = try? database.run(
                "looking for room",
                { db in
                    try ["freelist_count", "page_size"].map { name in
                        try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0
                    }
                })
        else { return 0 }
        return words.reduce(1, *)
    }

    /// The file that keeps the reserve's place on the disk.
    private static let reserveName = "reserve"

    /// Keeps `byteCount` bytes of the disk for later; whether they are kept.
    ///
    /// *C*: `posix_fallocate`.
    public func keepReserve(byteCount: Int) -> Bool {
        guard byteCount > 0 else {
            releaseReserve()
            return false
        }
        let file = unsafe openat(
            descriptor, Self.reserveName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        guard ftruncate(file, off_t(byteCount)) == 0,
            posix_fallocate(file, 0, off_t(byteCount)) == 0
        else {
            releaseReserve()
            return false
        }
        return true
    }

    /// Gives the reserve's bytes back to the disk.
    public func releaseReserve() { _ = unsafe unlinkat(descriptor, Self.reserveName, 0) }

    /// Whether there is room for `byteCount` bytes on the disk, asked of it by taking them for a moment.
    ///
    /// *C*: `posix_fallocate`, which a quota or a limit on the size of files refuses as well.
    public func hasRoom(for byteCount: Int) -> Bool {
        let name = "room.partial"
        let file = unsafe openat(
            descriptor, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer {
            close(file)
            _ = unsafe unlinkat(descriptor, name, 0)
        }
        return posix_fallocate(file, 0, off_t(byteCount)) == 0
    }
}
