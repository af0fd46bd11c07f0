import Glibc

/// The directory of a socket and its lock, held open after a safety check.
///
/// *Place*: opened before any file in it is trusted. Files are opened relative to the checked
/// directory, not to its path, which may lead elsewhere by then.
///
/// Safe means: a real directory, owned by this user, writable by no other. A user with write access
/// could replace the socket.
@safe
package final class RuntimeDirectory {
    /// The path by which the directory was opened.
    package let path: String
    let descriptor: Int32

    /// Opens and checks the directory at `path`.
    ///
    /// *Throws*: ``LoopError/unsafeDirectory(path:_:)`` with the reason.
    /// *C*: `lstat`, `open(O_DIRECTORY | O_NOFOLLOW)`, `fstat`.
    package init(at path: String) throws(LoopError) {
        self.path = path
        try Self.checkKind(of: path)
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .call(.system("open", path)) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .call(.system("fstat", path))
        }
        guard status.st_uid == geteuid() else {
            throw .unsafeDirectory(
                path: path, .isOwnedBy(owner: status.st_uid, expected: geteuid()))
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw .unsafeDirectory(path: path, .isWritableByOthers(mode: status.st_mode & 0o7777))
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Creates the directory with mode 0700 if it is missing, then opens it like `init(at:)`.
    ///
    /// Creates only the last component. *C*: `mkdir`.
    package static func openOrMake(at path: String) throws(LoopError) -> RuntimeDirectory {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .call(.system("mkdir", path))
        }
        return try RuntimeDirectory(at: path)
    }

    // `open` returns the same error for a link, a file and a fifo: this finds the reason first.
    // Then the open without following links refuses a swap in between as well.
    private static func checkKind(of path: String) throws(LoopError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .call(.system("lstat", path)) }
            throw .unsafeDirectory(path: path, .isMissing)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return
        case S_IFLNK: throw .unsafeDirectory(path: path, .isSymbolicLink)
        default: throw .unsafeDirectory(path: path, .isNotADirectory)
        }
    }
}
