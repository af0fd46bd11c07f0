import Glibc

extension DataDirectory {
    /// Free bytes above which a full disk counts as usable again; the log may need that many.
    static let roomByteCount = 32 << 20

    /// Whether the journal has room to continue: on the disk, or in empty pages of the file, which
    /// does not shrink when rows are removed.
    public var hasRoom: Bool {
        hasRoom(for: Self.roomByteCount) || freeByteCount >= Self.roomByteCount
    }

    /// Bytes of empty pages in the file, if the log has its full size; else 0, since a commit goes
    /// to the log first.
    var freeByteCount: Int {
        guard let logByteCount = try? byteCount(of: JournalFile.logName),
            logByteCount >= JournalTuning().grownByteCount,
            let database = try? JournalFile.reader(in: self),
            let words = try? database.run(
                "looking for room",
                { db in
                    try ["freelist_count", "page_size"].map { name in
                        Int(try db.integer("PRAGMA \(name)") ?? 0)
                    }
                })
        else { return 0 }
        return words.reduce(1, *)
    }

    /// The name of the file that reserves space on the disk.
    private static let reserveName = "reserve"

    /// Reserves `byteCount` bytes of the disk; returns whether they are reserved.
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

    /// Releases the reserved space.
    public func releaseReserve() { _ = unsafe unlinkat(descriptor, Self.reserveName, 0) }

    /// Whether the disk has room for `byteCount` bytes. Tested by allocating them for a moment.
    ///
    /// *C*: `posix_fallocate`, which also respects quotas and limits on file sizes.
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
