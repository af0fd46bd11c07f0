import Glibc

/// A file of a data directory that stays open so that it can be made durable repeatedly.
///
/// *C*: `openat`, `fsync`, `close`.
final class OpenFile: Sendable {
    private let descriptor: Int32
    private let path: String
    private let fault: JournalFaults.Fault?

    /// Opens the file `name`; `fault` is called before each synchronization.
    init(
        _ name: String, in directory: DataDirectory, fault: JournalFaults.Fault? = nil
    ) throws(JournalError) {
        path = directory.path(name)
        self.fault = fault
        descriptor = unsafe openat(
            directory.descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.now("openat", path)) }
    }

    deinit { close(descriptor) }

    /// Makes the file's content durable.
    func synchronize() throws(JournalError) {
        try fault?()
        guard fsync(descriptor) == 0 else { throw .system(.now("fsync", path)) }
    }
}
