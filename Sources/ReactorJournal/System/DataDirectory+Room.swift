import Glibc

extension DataDirectory {
    /// Bytes that must be had before a full disk counts as one with room again.
    // because a log of that size may have to be made anew
    static let roomByteCount = 32 << 20

    /// Whether there is room for the journal to go on, asked of the disk by taking it for a moment.
    ///
    /// *C*: `posix_fallocate`, which a quota or a limit on the size of files refuses as well.
    public var hasRoom: Bool {
        let name = "room.partial"
        let file = unsafe openat(
            descriptor, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer {
            close(file)
            _ = unsafe unlinkat(descriptor, name, 0)
        }
        return posix_fallocate(file, 0, off_t(Self.roomByteCount)) == 0
    }
}
