import Glibc

/// The right to serve one socket path: a lock held for the life of the process.
///
/// *Place*: the daemon takes it before it checks, removes or binds the path, and holds it until the
/// process ends. The system frees it when the process ends in any way, so it is never stale. The
/// file itself stays: if it were removed, two processes could each hold a lock.
///
/// *Shape*: the file contains the holder's process id in decimal and a line feed.
@safe
package final class LockFile {
    /// Path of the lock file.
    package let path: String
    /// The locked file, for a process that takes it over.
    package let descriptor: Int32
    /// Whether a former process has the lock too, and may go on with it.
    private var isShared = false

    /// Takes the lock for `address`: a file of its name with `.lock` after it, in `directory`.
    ///
    /// *Throws*: ``LoopError/alreadyRunning(lockPath:pid:)`` while another process holds it;
    /// ``LoopError/unsafeFile(path:)`` for a file that has another name or that others may write to,
    /// which is left unchanged.
    /// *C*: `openat(O_NOFOLLOW)`, `flock(LOCK_EX | LOCK_NB)`, `fstat`.
    package convenience init(
        for address: UnixAddress, in directory: RuntimeDirectory
    ) throws(LoopError) {
        try self.init(named: address.name + ".lock", in: directory)
    }

    /// Takes the lock file `name` in `directory`.
    package init(named name: String, in directory: RuntimeDirectory) throws(LoopError) {
        path = directory.path + "/" + name
        while true {
            let candidate = try Self.lock(name, in: directory, path: path)
            guard FileStatus(of: candidate)?.isOfThisUserAlone ?? false else {
                Self.release(candidate)
                throw .unsafeFile(path: path)
            }
            // Another process may have removed the file between the open and the lock; the lock
            // would then be invisible to others.
            if Self.isAt(name, in: directory, candidate) {
                descriptor = candidate
                break
            }
            Self.release(candidate)
        }
        guard writeHolder() else { throw .call(.system("pwrite", path)) }
    }

    /// Takes over the lock of `address` from a former process of this daemon, which shares it until
    /// ``claim()``.
    ///
    /// *Throws*: if `descriptor` is not the locked file; the caller still owns the descriptor then.
    package init(
        succeedingAt descriptor: Int32, for address: UnixAddress, in directory: RuntimeDirectory
    ) throws(LoopError) {
        let name = address.name + ".lock"
        path = directory.path + "/" + name
        guard Self.isAt(name, in: directory, descriptor),
            flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { throw .fileInUse(path: path) }
        self.descriptor = descriptor
        isShared = true
    }

    /// Makes this process the only holder: the former one ends.
    package func claim() {
        isShared = false
        _ = writeHolder()
    }

    private func writeHolder() -> Bool {
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0 else { return false }
        return unsafe pwrite(descriptor, text, text.count, 0) == text.count
    }

    deinit {
        guard descriptor >= 0 else { return }
        // The lock belongs to the open file, which both processes have: the former one keeps it.
        guard !isShared else {
            close(descriptor)
            return
        }
        Self.release(descriptor)
    }

    private static func release(_ descriptor: Int32) {
        // A process that is being started may have a copy of the descriptor up to its `exec`.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func lock(
        _ name: String, in directory: RuntimeDirectory, path: String
    ) throws(LoopError) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let descriptor = unsafe openat(directory.descriptor, name, flags, 0o600)
        guard descriptor >= 0 else { throw .call(.system("openat", path)) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let failure = CallFailure.system("flock", path)
            defer { close(descriptor) }
            guard failure.errnoCode == EWOULDBLOCK else { throw .call(failure) }
            throw .alreadyRunning(lockPath: path, pid: holder(in: descriptor))
        }
        return descriptor
    }

    private static func holder(in descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let digits = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
        return Int32(String(decoding: digits, as: UTF8.self))
    }

    private static func isAt(
        _ name: String, in directory: RuntimeDirectory, _ descriptor: Int32
    ) -> Bool {
        var ours = stat()
        var there = stat()
        return unsafe fstat(descriptor, &ours) == 0
            && fstatat(directory.descriptor, name, &there, AT_SYMLINK_NOFOLLOW) == 0
            && FileIdentity(ours) == FileIdentity(there)
    }
}
