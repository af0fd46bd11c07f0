import Glibc

/// A file of a data directory that stays open, to be made durable time and again.
///
/// *C*: `openat`, `fsync`, `close`.
final class OpenFile: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens the file `name`.
    init(_ name: String, in directory: DataDirectory) throws(JournalError) {
        path = directory.path(name)
        descriptor = unsafe openat(
            directory.descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.now("openat", path)) }
    }

    deinit { close(descriptor) }

    /// Makes what the file holds durable.
    func synchronize() throws(JournalError) {
        guard fsync(descriptor) == 0 else { throw .system(.now("fsync", path)) }
    }
}
