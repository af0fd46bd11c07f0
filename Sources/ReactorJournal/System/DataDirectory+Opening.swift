// Imported first: Swift may otherwise attribute types such as stat to this module.
import CXXHash
import Glibc

/// Opening a directory to examine it, and creating one for a copy.
extension DataDirectory {
    /// Opens the directory at `path` for reading, and keeps daemons out of it. No file changes
    /// except SQLite's `-shm`, which contains no data.
    ///
    /// *Throws*: ``JournalError/inUse(path:pid:)`` while another process uses it.
    public convenience init(examining path: String) throws(JournalError) {
        try self.init(at: path, to: .examine)
    }

    /// Creates the directory `path` with the files that `body` writes, outside `source`.
    ///
    /// The directory gets its name when it is complete. Until then its name has the suffix
    /// `.partial`; it is removed if `body` fails, or by the next attempt if the process was killed.
    /// An empty directory at `path` is replaced. *C*: `mkdir`, `rename`, `fsync`.
    ///
    /// *Throws*: if `path` exists, or another process is filling it.
    static func fill<Result>(
        _ path: String, from source: DataDirectory,
        _ body: (DataDirectory) throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        var path = absolute(path)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !source.holds(path) else {
            throw .unusableDirectory(path: path, .isInside(source.path))
        }
        guard isFree(path) else { throw .unusableDirectory(path: path, .isTaken) }
        let other = try DataDirectory(replacing: path + ".partial")
        do throws(JournalError) {
            let result = try body(other)
            try other.synchronize()
            guard unsafe Glibc.rename(other.path, path) == 0 else {
                throw .system(.now("rename", path))
            }
            try synchronizeParent(of: other.descriptor, at: path)
            return result
        } catch {
            // An incomplete copy is of no use. The original error is more important than an error
            // of its removal.
            try? other.removeAll()
            throw error
        }
    }

    /// Creates and opens a directory; first removes the incomplete one of a process that was
    /// killed.
    private convenience init(replacing path: String) throws(JournalError) {
        if unsafe mkdir(path, 0o700) != 0 {
            guard errno == EEXIST else { throw Self.refusal(toMake: path) }
            try DataDirectory(at: path).removeUnfinished()
            guard unsafe mkdir(path, 0o700) == 0 else { throw Self.refusal(toMake: path) }
        }
        do throws(JournalError) {
            try self.init(at: path, to: .own)
        } catch {
            _ = unsafe rmdir(path)
            throw error
        }
    }

    /// Whether no file is lost if another directory gets this name.
    private static func isFree(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return errno == ENOENT }
        guard status.st_mode & S_IFMT == S_IFDIR, let stream = unsafe opendir(path) else {
            return false
        }
        defer { unsafe closedir(stream) }
        var count = 0
        while unsafe readdir(stream) != nil { count += 1 }
        // Every directory lists itself and its parent.
        return count <= 2
    }

    /// Whether `path` would be in the directory or below it, after symbolic links are resolved.
    func holds(_ path: String) -> Bool {
        let identity = FileIdentity(of: descriptor)
        var place = path.lastIndex(of: "/").map { String(path[..<$0]) + "/." } ?? "."
        while let here = FileIdentity(at: place), here != identity {
            guard let above = FileIdentity(at: place + "/.."), above != here else { return false }
            place += "/.."
        }
        return FileIdentity(at: place) != nil
    }

    /// Removes the directory, unless it contains files that neither a backup nor a salvage writes.
    private func removeUnfinished() throws(JournalError) {
        let isOurs = try names().allSatisfy {
            $0.hasPrefix("journal.") || $0.hasPrefix("snapshot-")
        }
        guard isOurs else { throw .unusableDirectory(path: path, .isTaken) }
        try removeAll()
    }

    /// The error for a refused `mkdir`, from `errno`: an unusable path is not a failure of the
    /// disk.
    static func refusal(toMake path: String) -> JournalError {
        switch errno {
        case ENOENT, ENOTDIR: .unusableDirectory(path: path, .isWithoutParent)
        case EACCES, EPERM, EROFS: .unusableDirectory(path: path, .isForbidden)
        default: .system(.now("mkdir", path))
        }
    }

    /// Removes all files and the directory itself. *C*: `unlinkat`, `rmdir`.
    func removeAll() throws(JournalError) {
        for name in try names() { try remove(name) }
        guard unsafe rmdir(path) == 0 else { throw .system(.now("rmdir", path)) }
    }

    /// Creates the empty file `name`, accessible to the owner only, if it is missing. *C*:
    /// `openat`.
    ///
    /// SQLite gives its auxiliary files the same mode.
    func makeFile(_ name: String) throws(JournalError) {
        let file = unsafe openat(
            descriptor, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system(.now("openat", self.path(name))) }
        close(file)
    }
}
