// Imported first: Swift may otherwise attribute types such as timespec to this module.
import CXXHash
import Glibc

/// File operations outside SQLite.
extension DataDirectory {
    /// The path of the file `name` in the directory.
    func path(_ name: String) -> String { path + "/" + name }

    /// Returns the names of all files, sorted. *C*: `fdopendir`, `readdir`.
    func names() throws(JournalError) -> [String] { try Self.names(of: descriptor, at: path) }

    /// Returns the names of all files in an open directory, sorted. *C*: `fdopendir`, `readdir`.
    static func names(of descriptor: Int32, at path: String) throws(JournalError) -> [String] {
        // The directory stream moves the descriptor's position, so it gets its own descriptor.
        let own = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { throw .system(.now("openat", path)) }
        guard let stream = unsafe fdopendir(own) else {
            let failure = SystemFailure.now("fdopendir", path)
            close(own)
            throw .system(failure)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the size of the file `name`; nil if there is none. *C*: `fstatat`.
    func byteCount(of name: String) throws(JournalError) -> Int? {
        var status = stat()
        guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw .system(.now("fstatat", path(name)))
        }
        return Int(status.st_size)
    }

    /// Returns the bytes of disk that the file `name` occupies; 0 if there is none. *C*: `fstatat`.
    func occupiedByteCount(of name: String) -> Int {
        var status = stat()
        guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
        // The unit of this field is 512 bytes on every file system.
        return Int(status.st_blocks) * 512
    }

    /// Returns the seconds since the file `name` was last written; nil if there is none. *C*:
    /// `fstatat`.
    func age(of name: String) -> Double? {
        var status = stat()
        guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            return nil
        }
        let written =
            Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
        return Double(max(0, WallClock.milliseconds() - written)) / 1_000
    }

    /// The name of the file whose modification time is the time of the last backup.
    static let backupMarkName = "last-backup"

    /// Records that a backup is complete, for ``HistorySize/backupAge`` in this run and later ones.
    /// A failure is no reason to refuse the backup. *C*: `openat`, `futimens`.
    package func markBackup() {
        guard (try? makeFile(Self.backupMarkName)) != nil else { return }
        let file = unsafe openat(
            descriptor, Self.backupMarkName, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = futimens(file, nil)
        close(file)
    }

    /// Bytes that this user may still write to the disk; nil if the system does not show them.
    /// *C*: `fstatvfs`.
    var freeByteCount: UInt64? {
        var status = statvfs()
        guard unsafe fstatvfs(descriptor, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) &* UInt64(status.f_frsize)
    }

    /// Returns the identity of the file `name`; nil if there is none. *C*: `statx`.
    func identity(of name: String) -> FileIdentity? { FileIdentity(of: name, in: descriptor) }

    /// Removes the file `name`, if it exists. *C*: `unlinkat`.
    func remove(_ name: String) throws(JournalError) {
        guard unsafe unlinkat(descriptor, name, 0) != 0, errno != ENOENT else { return }
        throw .system(.now("unlinkat", path(name)))
    }

    /// Creates the empty file `name`, accessible to the owner only, if it is missing. *C*:
    /// `openat`.
    ///
    /// SQLite gives its auxiliary files the same mode.
    func makeFile(_ name: String) throws(JournalError) {
        let file = unsafe openat(
            descriptor, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system(.now("openat", path(name))) }
        close(file)
    }

    /// Makes the content of the file `name` durable. *C*: `fsync`.
    func synchronize(_ name: String) throws(JournalError) {
        let file = try open(name, O_RDONLY)
        defer { close(file) }
        guard fsync(file) == 0 else { throw .system(.now("fsync", path(name))) }
    }

    /// Renames a complete and durable file, and makes the new name durable.
    ///
    /// *C*: `renameat`, `fsync` of the directory.
    func rename(_ name: String, to newName: String) throws(JournalError) {
        guard unsafe renameat(descriptor, name, descriptor, newName) == 0 else {
            throw .system(.now("renameat", path(name)))
        }
        try synchronize()
    }

    /// Makes the directory's names durable. *C*: `fsync`.
    func synchronize() throws(JournalError) {
        guard fsync(descriptor) == 0 else { throw .system(.now("fsync", path)) }
    }

    /// Appends zeros to the file `name` up to a size of `byteCount`; returns false, and restores
    /// its former size, if there is no room.
    func grow(_ name: String, to byteCount: Int) throws(JournalError) -> Bool {
        let file = try open(name, O_WRONLY | O_APPEND)
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .system(.now("fstat", path(name))) }
        let zeros = [UInt8](repeating: 0, count: 1 << 18)
        var rest = byteCount - Int(status.st_size)
        while rest > 0 {
            let count = unsafe write(file, zeros, min(rest, zeros.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let failure = SystemFailure.now("write", path(name))
                guard failure.isFull, ftruncate(file, status.st_size) == 0 else {
                    throw .system(failure)
                }
                return false
            }
            rest -= count
        }
        guard fdatasync(file) == 0 else { throw .system(.now("fdatasync", path(name))) }
        return true
    }

    /// Reads up to `count` bytes of the file `name` from `offset` on. *C*: `pread`.
    func read(
        _ name: String, at offset: Int, count: Int
    ) throws(JournalError) -> [UInt8] {
        let file = try open(name, O_RDONLY)
        defer { close(file) }
        return try read(file, name, at: offset, count: count)
    }

    private func read(
        _ file: Int32, _ name: String, at offset: Int, count: Int
    ) throws(JournalError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let more = unsafe bytes.withUnsafeMutableBytes {
                unsafe pread(
                    file, $0.baseAddress.map { unsafe $0 + filled }, count - filled, offset + filled
                )
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw .system(.now("pread", path(name))) }
            if more == 0 { break }
            filled += more
        }
        bytes.removeLast(count - filled)
        return bytes
    }

    /// Copies the file `name` into `other` and makes the copy durable.
    ///
    /// *C*: `pread`, `write`, `fsync`.
    func copy(
        _ name: String, into other: DataDirectory, isCancelled: () -> Bool = { false }
    ) throws(JournalError) {
        // Opened once, since the name may be given to another file during the copy.
        let file = try open(name, O_RDONLY)
        defer { close(file) }
        let target = unsafe openat(
            other.descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw .system(.now("openat", other.path(name))) }
        defer { close(target) }
        var offset = 0
        while true {
            if isCancelled() { throw .cancelled(path(name)) }
            let bytes = try read(file, name, at: offset, count: 1 << 20)
            if bytes.isEmpty { break }
            offset += bytes.count
            try other.writeAll(bytes, to: target, name)
        }
        guard fsync(target) == 0 else { throw .system(.now("fsync", other.path(name))) }
    }

    /// Appends bytes to the file `name`. *C*: `openat`, `write`.
    func append(_ bytes: [UInt8], to name: String) throws(JournalError) {
        let file = try open(name, O_WRONLY | O_APPEND)
        defer { close(file) }
        try writeAll(bytes, to: file, name)
    }

    private func writeAll(
        _ bytes: [UInt8], to file: Int32, _ name: String
    ) throws(JournalError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe write(
                    file, $0.baseAddress.map { unsafe $0 + written }, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(.now("write", path(name))) }
            written += count
        }
    }

    /// Moves the file `name` into `other`, on the same file system. *C*: `renameat`.
    func move(_ name: String, into other: DataDirectory) throws(JournalError) {
        guard unsafe renameat(descriptor, name, other.descriptor, name) == 0 else {
            throw .system(.now("renameat", path(name)))
        }
    }

    private func open(_ name: String, _ flags: Int32) throws(JournalError) -> Int32 {
        let file = unsafe openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw .system(.now("openat", path(name))) }
        return file
    }
}

/// A file of a data directory that stays open so that it can be made durable repeatedly.
///
/// *C*: `openat`, `fsync`, `close`.
final class OpenFile: Sendable {
    private let descriptor: Int32
    private let path: String
    private let fault: (@Sendable () throws(JournalError) -> Void)?

    /// Opens the file `name`; `fault` is called before each synchronization.
    init(
        _ name: String, in directory: DataDirectory,
        fault: (@Sendable () throws(JournalError) -> Void)? = nil
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
