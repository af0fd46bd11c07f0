import Glibc

/// Checks and removes a stale file at a socket's path.
///
/// *Place*: the daemon calls it before it binds, while it holds the path's ``LockFile``.
package enum SocketFile {
    /// Removes the socket that an earlier process of this user left at `address`. Returns whether
    /// there was one.
    ///
    /// It takes the lock as a parameter, since without the lock the socket could belong to a
    /// running daemon. Other programs do not use the lock, so a socket is stale only if the system
    /// refuses a connection to it with `ECONNREFUSED`. *Throws*:
    /// ``LoopError/unsafeSocketFile(path:_:)`` for any file that is not a stale socket of this
    /// user, which it leaves. *C*: `fstatat`, `connect`, `unlinkat`.
    @discardableResult
    package static func removeStale(
        at address: UnixAddress, in directory: RuntimeDirectory, holding lock: borrowing LockFile
    ) throws(LoopError) -> Bool {
        var status = stat()
        let name = address.name
        guard unsafe fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw .call(.system("fstatat", address.path)) }
            return false
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw .unsafeSocketFile(
                path: address.path, .isNotASocket(kind: kind(of: status.st_mode)))
        }
        guard status.st_uid == geteuid() else {
            throw .unsafeSocketFile(
                path: address.path, .isOwnedBy(owner: status.st_uid, expected: geteuid()))
        }
        guard isStale(address) else {
            throw .unsafeSocketFile(path: address.path, .isInUse)
        }
        guard unsafe unlinkat(directory.descriptor, name, 0) == 0 else {
            throw .call(.system("unlinkat", address.path))
        }
        return true
    }

    /// The permission bits of the file at `address`; `nil` if there is none. *C*: `lstat`.
    package static func mode(at address: UnixAddress) -> UInt32? {
        var status = stat()
        guard unsafe lstat(address.path, &status) == 0 else { return nil }
        return status.st_mode & 0o7777
    }

    /// Whether no process has the socket open. A full backlog, a socket of another type or a
    /// refused permission means that one does.
    private static func isStale(_ address: UnixAddress) -> Bool {
        do throws(LoopError) {
            close(try UnixSocket.connect(to: address))
            return false
        } catch {
            return error.failure?.errnoCode == ECONNREFUSED
        }
    }

    private static func kind(of mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "directory"
        case S_IFLNK: "symbolic link"
        case S_IFIFO: "fifo"
        case S_IFREG: "regular file"
        case S_IFCHR, S_IFBLK: "device"
        default: "file of an unknown kind"
        }
    }
}
