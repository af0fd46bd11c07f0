// Imported first: Swift may otherwise attribute types such as stat to this module.
import CXXHash
import Glibc

/// A data directory that is created for a copy, and gets its name when it is complete.
///
/// Until then its name has the suffix `.partial`. An incomplete directory is removed if its content
/// cannot be written, or by the next attempt if the process was killed.
struct NewDirectory {
    /// The absolute path, without slashes at the end.
    private let path: String

    /// Prepares a directory at `path`, outside `source` if there is one.
    ///
    /// *Throws*: if `path` is inside `source`, or exists and is not an empty directory.
    init(at path: String, outside source: DataDirectory? = nil) throws(JournalError) {
        var path = DataDirectory.absolute(path)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        if let source, Self.isInside(source, path) {
            throw .unusableDirectory(path: path, .isInside(source.path))
        }
        guard Self.isFree(path) else { throw .unusableDirectory(path: path, .isTaken) }
        self.path = path
    }

    /// Creates the directory with the files that `body` writes. An empty directory with its name is
    /// replaced. *C*: `mkdir`, `rename`, `fsync`.
    ///
    /// *Throws*: the errors of `body`, and if another process is filling it.
    func fill<Result>(
        _ body: (DataDirectory) throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        let other = try Self.open(replacing: path + ".partial")
        do throws(JournalError) {
            let result = try body(other)
            try other.synchronize()
            guard unsafe Glibc.rename(other.path, path) == 0 else {
                throw .system(.now("rename", path))
            }
            try DataDirectory.synchronizeParent(of: other.descriptor, at: path)
            return result
        } catch {
            // An incomplete copy is of no use. The original error is more important than an error
            // of its removal.
            try? Self.remove(other)
            throw error
        }
    }

    /// Creates and opens a directory; first removes the incomplete one of a process that was
    /// killed.
    private static func open(replacing path: String) throws(JournalError) -> DataDirectory {
        if unsafe mkdir(path, 0o700) != 0 {
            guard errno == EEXIST else { throw DataDirectory.refusal(toMake: path) }
            try removeUnfinished(DataDirectory(at: path))
            guard unsafe mkdir(path, 0o700) == 0 else {
                throw DataDirectory.refusal(toMake: path)
            }
        }
        do throws(JournalError) {
            return try DataDirectory(at: path, to: .own)
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

    /// Whether `path` would be in `directory` or below it, after symbolic links are resolved.
    private static func isInside(_ directory: DataDirectory, _ path: String) -> Bool {
        let identity = FileIdentity(of: directory.descriptor)
        var place = path.lastIndex(of: "/").map { String(path[..<$0]) + "/." } ?? "."
        while let here = FileIdentity(at: place), here != identity {
            guard let above = FileIdentity(at: place + "/.."), above != here else { return false }
            place += "/.."
        }
        return FileIdentity(at: place) != nil
    }

    /// Removes a directory, unless it contains files that neither a backup nor a salvage writes.
    private static func removeUnfinished(_ directory: DataDirectory) throws(JournalError) {
        let isOurs = try directory.names().allSatisfy {
            $0.hasPrefix("journal.") || $0.hasPrefix("snapshot-")
        }
        guard isOurs else { throw .unusableDirectory(path: directory.path, .isTaken) }
        try remove(directory)
    }

    /// The names in a directory, in no order; none if it cannot be read. *C*: `readdir`.
    static func names(in path: String) -> [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            names.append(
                unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    /// Gives a directory another name. *C*: `rename`.
    static func move(_ path: String, to newPath: String) throws(JournalError) {
        guard unsafe Glibc.rename(path, newPath) == 0 else { throw .system(.now("rename", path)) }
    }

    /// Removes the directory at `path`, if there is one, with all files.
    static func removeAny(at path: String) throws(JournalError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        try remove(DataDirectory(at: path))
    }

    /// Removes all files and the directory itself. *C*: `unlinkat`, `rmdir`.
    static func remove(_ directory: DataDirectory) throws(JournalError) {
        for name in try directory.names() { try directory.remove(name) }
        guard unsafe rmdir(directory.path) == 0 else {
            throw .system(.now("rmdir", directory.path))
        }
    }
}
