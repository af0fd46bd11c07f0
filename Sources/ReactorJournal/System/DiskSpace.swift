import Glibc

/// The free space on the disk of a data directory, and the part of it that a file reserves.
///
/// *Place*: below the daemon's reserve, and below ``JournalSpace``. *Owner*: one thread.
package struct DiskSpace: Sendable {
    private let directory: DataDirectory

    /// Provides access to the space on the disk of `directory`.
    package init(of directory: DataDirectory) { self.directory = directory }

    /// The name of the file that reserves space on the disk.
    private static let reserveName = "reserve"

    /// Reserves `byteCount` bytes of the disk; returns whether they are reserved.
    ///
    /// *C*: `posix_fallocate`.
    package func keepReserve(byteCount: Int) -> Bool {
        guard byteCount > 0 else {
            releaseReserve()
            return false
        }
        let file = unsafe openat(
            directory.descriptor, Self.reserveName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
            0o600)
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

    /// Bytes of disk that the files of the directory occupy, except for the reserve; nil if the
    /// directory cannot be read.
    ///
    /// *C*: `readdir`, `fstatat` of each file; there are about ten.
    package var occupiedByteCount: Int? {
        guard let names = try? directory.names() else { return nil }
        return names.reduce(0) { sum, name in
            name == Self.reserveName ? sum : sum + directory.occupiedByteCount(of: name)
        }
    }

    /// Releases the reserved space.
    package func releaseReserve() {
        _ = unsafe unlinkat(directory.descriptor, Self.reserveName, 0)
    }

    /// Whether the disk has room for `byteCount` bytes. Tested by allocating them for a moment.
    ///
    /// *C*: `posix_fallocate`, which also respects quotas and limits on file sizes.
    package func hasRoom(for byteCount: Int) -> Bool {
        let name = "room.partial"
        let file = unsafe openat(
            directory.descriptor, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer {
            close(file)
            _ = unsafe unlinkat(directory.descriptor, name, 0)
        }
        return posix_fallocate(file, 0, off_t(byteCount)) == 0
    }
}
