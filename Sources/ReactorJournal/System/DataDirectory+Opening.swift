// because what its headers include first, such as stat, Swift may take for its own
import CXXHash
import Glibc

/// The ways into a directory besides living in it.
extension DataDirectory {
    /// Opens the directory at `path` to be read: nothing of it is changed but SQLite's `-shm`,
    /// which holds nothing, and no daemon runs in it meanwhile.
    ///
    /// *Throws*: ``JournalError/inUse(path:pid:)`` while somebody else holds it.
    public convenience init(examining path: String) throws(JournalError) {
        try self.init(at: path, to: .examine)
    }

    /// Makes the directory `path` of what `body` writes, outside of `source`.
    ///
    /// The directory gets its name when it is whole: until then it is `path` with `.partial`, which
    /// is removed when `body` fails, and by the next attempt where the process was killed. An empty
    /// directory at `path` is replaced. *C*: `mkdir`, `rename`, `fsync`.
    ///
    /// *Throws*: where something stands at `path`, or another process fills it.
    static func fill<Result>(
        _ path: String, from source: DataDirectory,
        _ body: (DataDirectory) throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        var path = absolute(path)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !source.holds(path) else {
            throw .unusableDirectory(path: path, .isInside(source.path))
        }
        guard isFree(path) else {
            throw .system(SystemFailure(call: "mkdir", path: path, code: EEXIST))
        }
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
            // because half of it is none, and the reason matters more than what is left
            try? other.removeAll()
            throw error
        }
    }

    /// Makes a directory, and opens it; an unfinished one of a process that was killed goes first.
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

    /// Whether nothing is lost by giving another directory this name.
    private static func isFree(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return errno == ENOENT }
        guard status.st_mode & S_IFMT == S_IFDIR, let stream = unsafe opendir(path) else {
            return false
        }
        defer { unsafe closedir(stream) }
        var count = 0
        while unsafe readdir(stream) != nil { count += 1 }
        // because each has itself and its parent in it
        return count <= 2
    }

    /// Whether `path` is to stand in the directory or below it, whatever links lead there.
    func holds(_ path: String) -> Bool {
        let identity = FileIdentity(of: descriptor)
        var place = path.lastIndex(of: "/").map { String(path[..<$0]) + "/." } ?? "."
        while let here = FileIdentity(at: place), here != identity {
            guard let above = FileIdentity(at: place + "/.."), above != here else { return false }
            place += "/.."
        }
        return FileIdentity(at: place) != nil
    }

    /// Removes the directory, unless it holds what no backup and no salvage has written.
    private func removeUnfinished() throws(JournalError) {
        let isOurs = try names().allSatisfy {
            $0.hasPrefix("journal.") || $0.hasPrefix("snapshot-")
        }
        guard isOurs else {
            throw .system(SystemFailure(call: "mkdir", path: path, code: EEXIST))
        }
        try removeAll()
    }

    /// What it means that `mkdir` was refused, from `errno`: a place that cannot be used is no
    /// failure of the disk.
    static func refusal(toMake path: String) -> JournalError {
        switch errno {
        case ENOENT, ENOTDIR: .unusableDirectory(path: path, .isWithoutParent)
        case EACCES, EPERM, EROFS: .unusableDirectory(path: path, .isForbidden)
        default: .system(.now("mkdir", path))
        }
    }

    /// Removes all files in it, and itself. *C*: `unlinkat`, `rmdir`.
    func removeAll() throws(JournalError) {
        for name in try names() { try remove(name) }
        guard unsafe rmdir(path) == 0 else { throw .system(.now("rmdir", path)) }
    }

    /// Makes the empty file `name`, for nobody but the owner, where there is none. *C*: `openat`.
    ///
    /// SQLite gives its other files the mode of the one that they belong to.
    func makeFile(_ name: String) throws(JournalError) {
        let file = unsafe openat(
            descriptor, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system(.now("openat", self.path(name))) }
        close(file)
    }
}
