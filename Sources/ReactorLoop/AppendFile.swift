import Glibc

/// A locked file of one process that grows at its end, and is rewritten as a whole now and then.
///
/// *Place*: for data that must survive the process but not the machine. Nothing is synchronised, so
/// an append costs one call. *Owner*: one thread. The system frees the lock when the process ends
/// in any way.
///
/// *Shape*: mode 0600, owned by the user of the process, no symbolic link. A file of the same name
/// with `.new` appended is left by a writer that ended before it could rename it.
@safe
package final class AppendFile {
    /// Path of the file.
    package let path: String
    /// Length of the file in bytes.
    package private(set) var byteCount = 0
    private var descriptor: Int32

    /// Opens or creates the file at `path`, and locks it.
    ///
    /// *Throws*: ``LoopError/fileInUse(path:)`` while another instance, in this process or another,
    /// has it open. ``LoopError/unsafeFile(path:)`` for a file that others may read, which is left
    /// unchanged. *C*: `open(O_NOFOLLOW)`, `flock(LOCK_EX | LOCK_NB)`, `fchmod`.
    package init(at path: String) throws(LoopError) {
        self.path = path
        while true {
            let candidate = try Self.lock(path, O_RDWR | O_CREAT | O_APPEND)
            // Another process may have replaced the file between the open and the lock.
            if let there = FileIdentity(at: path), there == Self.identity(of: candidate) {
                descriptor = candidate
                break
            }
            close(candidate)
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .call(.system("fstat", path)) }
        guard FileStatus(status).isOfThisUserAlone else { throw .unsafeFile(path: path) }
        // A file that others may read was hardly made by this type, so its mode is not changed.
        guard status.st_mode & 0o077 == 0 || status.st_size == 0 else {
            throw .unsafeFile(path: path)
        }
        if status.st_mode & 0o7777 != 0o600, status.st_size == 0 {
            guard fchmod(descriptor, 0o600) == 0 else { throw .call(.system("fchmod", path)) }
        }
        byteCount = Int(status.st_size)
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A process that is being started may have a copy of the descriptor up to its `exec`.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// The contents of the file. *C*: `pread`.
    package func contents() throws(LoopError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var filled = 0
        while filled < bytes.count {
            let (start, rest) = (filled, bytes.count - filled)
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress.map { unsafe $0 + start }, rest, start)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .call(.system("pread", path)) }
            if count == 0 { break }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    /// Appends bytes. *C*: `write`.
    ///
    /// *Throws*: if the system refuses; it may have written a part of the bytes then.
    package func append(_ bytes: [UInt8]) throws(LoopError) {
        try Self.write(bytes, to: descriptor, path)
        byteCount += bytes.count
    }

    /// Truncates the file to its first `byteCount` bytes. *C*: `ftruncate`.
    package func truncate(to byteCount: Int) throws(LoopError) {
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
            throw .call(.system("ftruncate", path))
        }
        self.byteCount = byteCount
    }

    /// Replaces the contents of the file: after a crash, a reader finds either the old contents or
    /// the new ones, complete. *C*: `open`, `write`, `rename`.
    package func replace(with bytes: [UInt8]) throws(LoopError) {
        let newPath = path + ".new"
        let candidate = try Self.lock(newPath, O_RDWR | O_CREAT | O_APPEND)
        do throws(LoopError) {
            guard FileStatus(of: candidate)?.isOfThisUserAlone ?? false else {
                throw .unsafeFile(path: newPath)
            }
            guard ftruncate(candidate, 0) == 0 else { throw .call(.system("ftruncate", newPath)) }
            guard fchmod(candidate, 0o600) == 0 else { throw .call(.system("fchmod", newPath)) }
            try Self.write(bytes, to: candidate, newPath)
            guard unsafe rename(newPath, path) == 0 else {
                throw .call(.system("rename", newPath))
            }
        } catch {
            close(candidate)
            throw error
        }
        // The new file is locked already, so no other process can take it in between.
        close(descriptor)
        descriptor = candidate
        byteCount = bytes.count
    }

    private static func lock(_ path: String, _ flags: Int32) throws(LoopError) -> Int32 {
        let descriptor = unsafe open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .call(.system("open", path)) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let failure = CallFailure.system("flock", path)
            close(descriptor)
            throw failure.errnoCode == EWOULDBLOCK ? .fileInUse(path: path) : .call(failure)
        }
        return descriptor
    }

    private static func identity(of descriptor: Int32) -> FileIdentity? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? FileIdentity(status) : nil
    }

    private static func write(
        _ bytes: [UInt8], to descriptor: Int32, _ path: String
    ) throws(LoopError) {
        var written = 0
        while written < bytes.count {
            let (start, rest) = (written, bytes.count - written)
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress.map { unsafe $0 + start }, rest)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .call(.system("write", path)) }
            written += count
        }
    }
}
