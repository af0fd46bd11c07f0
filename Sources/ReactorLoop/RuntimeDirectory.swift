import Glibc

/// The directory that holds a socket and its lock, held open and known to be safe.
///
/// *Place*: opened before anything in it is trusted. What is opened through it is opened relative
/// to the directory that was checked, not to what the path leads to by then.
///
/// Safe means: a real directory, ours, that nobody else may write to. Anybody who could write there
/// could put another socket in our place.
@safe
public final class RuntimeDirectory {
    /// The path it was opened by.
    public let path: String
    let descriptor: Int32

    /// Opens and checks the directory at `path`.
    ///
    /// *Throws*: ``LoopError/unsafeDirectory(path:_:)`` with the reason.
    /// *C*: `lstat`, `open(O_DIRECTORY | O_NOFOLLOW)`, `fstat`.
    public init(at path: String) throws(LoopError) {
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

    /// Makes the directory with mode 0700 if nothing is there, then opens it as `init(at:)` does.
    ///
    /// Only its last component is made. *C*: `mkdir`.
    public static func openOrMake(at path: String) throws(LoopError) -> RuntimeDirectory {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .call(.system("mkdir", path))
        }
        return try RuntimeDirectory(at: path)
    }

    // because open answers the same error for a link, a file and a fifo: look first for the reason,
    // then open without following links, so that a swap in between is refused as well
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
