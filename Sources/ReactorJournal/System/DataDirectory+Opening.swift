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

    /// Makes a directory where nothing is, and opens it. *C*: `mkdir`.
    ///
    /// *Throws*: where something stands at `path` already.
    convenience init(making path: String) throws(JournalError) {
        guard unsafe mkdir(path, 0o700) == 0 else { throw .system(.now("mkdir", path)) }
        try self.init(at: path, to: .own)
    }

    /// Removes all files in it, and itself. *C*: `unlinkat`, `rmdir`.
    func removeAll() throws(JournalError) {
        for name in try names() { try remove(name) }
        guard unsafe rmdir(path) == 0 else { throw .system(.now("rmdir", path)) }
    }

    /// Lets nobody but the owner read the file `name`. *C*: `fchmodat`.
    func restrict(_ name: String) throws(JournalError) {
        guard unsafe fchmodat(descriptor, name, 0o600, 0) == 0 else {
            throw .system(.now("fchmodat", path(name)))
        }
    }
}
