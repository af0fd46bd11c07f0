import CXXHash
import Glibc
import ReactorThreads

/// The data directory of a daemon's history: open, checked for safety, and locked.
///
/// *Place*: opened before any of its files, and kept until the process ends. This module's own
/// calls go through the descriptor. SQLite takes paths, so ``isInPlace`` checks whether the path
/// still leads to this directory.
///
/// Safe means: a real directory of this user with mode 0700, on a file system with reliable locks,
/// whose files are regular files of this user with one name each.
@safe
package final class DataDirectory: Sendable {
    /// The absolute path by which it was opened.
    package let path: String
    let descriptor: Int32
    /// Whether writes to it can be relied on.
    let health = JournalHealth()
    /// The lock file, for a process that takes it over; negative without one.
    package let lock: Int32
    /// Raised while a former process may go on with the lock.
    private let isShared = Flag()
    private let identity: FileIdentity?
    private let lockIdentity: FileIdentity?

    /// The purpose for which the directory is opened.
    enum Purpose {
        /// To use it: creates it if it is missing, and writes the lock file.
        case own
        /// To examine it: creates nothing, and locks the lock file only if it exists.
        case examine
    }

    /// Opens, checks and locks the directory at `path`; creates it if it is missing.
    ///
    /// *Throws*: ``JournalError/unusableDirectory(path:_:)`` with the reason, or
    /// ``JournalError/inUse(path:pid:)`` while another process uses it.
    package convenience init(at path: String) throws(JournalError) {
        try self.init(at: path, to: .own)
    }

    /// Opens and checks the directory at `path`, and takes over its lock from a former process of
    /// this daemon, which shares it until ``claim()``.
    ///
    /// *Throws*: also if `lock` is not the locked file of the directory.
    package convenience init(at path: String, succeedingTo lock: Int32) throws(JournalError) {
        try self.init(at: path, to: .own, heldBy: lock)
    }

    /// Opens the directory at `path` for reading, and keeps daemons out of it. No file changes
    /// except SQLite's `-shm`, which contains no data.
    ///
    /// *Throws*: ``JournalError/inUse(path:pid:)`` while another process uses it.
    package convenience init(examining path: String) throws(JournalError) {
        try self.init(at: path, to: .examine)
    }

    init(
        at path: String, to purpose: Purpose, fileSystem: Int? = nil, heldBy former: Int32? = nil
    ) throws(JournalError) {
        self.path = Self.absolute(path)
        let isMade = unsafe purpose == .own && mkdir(path, 0o700) == 0
        if purpose == .own, !isMade, errno != EEXIST { throw Self.refusal(toMake: path) }
        try Self.checkKind(of: path)
        descriptor = try Self.open(path)
        identity = FileIdentity(of: descriptor)
        // A class whose initializer throws early is not deinitialized.
        do throws(JournalError) {
            try Self.checkSafety(of: descriptor, at: path, fileSystem: fileSystem)
            if isMade { try Self.synchronizeParent(of: descriptor, at: path) }
            if purpose == .own { try Self.checkFiles(of: descriptor, at: path) }
            if let former {
                lock = try Self.share(former, in: descriptor, at: path)
                isShared.raise()
            } else {
                lock = try Self.lock(in: descriptor, at: path, to: purpose)
            }
            lockIdentity = FileIdentity(of: lock)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        release()
        if lock >= 0 { close(lock) }
        close(descriptor)
    }

    /// Releases the lock, so that others can open the directory while threads of this process still
    /// have this object. The journal must be closed.
    package func release() {
        // The lock belongs to the open file: a former process has it too, and a process that is
        // being started has a copy up to its `exec`.
        if !isShared.isUp, lock >= 0 { flock(lock, LOCK_UN) }
    }

    /// Whether no former process may go on with the directory.
    package var isClaimed: Bool { !isShared.isUp }

    /// Makes this process the only holder of the lock: the former one ends.
    package func claim() {
        guard isShared.take() else { return }
        Self.writeHolder(to: lock)
    }

    /// The name of the lock file.
    static let lockName = "journal.lock"

    /// Whether the path still leads to the open directory, and its lock file is the locked one.
    /// *C*: `statx`.
    package var isInPlace: Bool {
        guard FileIdentity(at: path) == identity else { return false }
        return lock < 0 || identity(of: Self.lockName) == lockIdentity
    }

    /// The time of the last change of a name in the directory, in nanoseconds since 1970; nil if
    /// the path leads elsewhere. *C*: `statx`.
    var changeTime: Int64? {
        guard let there = FileIdentity.changing(at: path), there.identity == identity else {
            return nil
        }
        return there.time
    }

    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(here) }
        return unsafe String(cString: here) + "/" + path
    }

    // `open` reports the same error for a link, a file and a fifo, so the kind is checked first.
    // Opening then does not follow links, so a swap in between is refused too.
    private static func checkKind(of path: String) throws(JournalError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            throw refusal(of: "lstat", at: path, code: errno)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            // A directory of another user may not permit this one to open it.
            guard status.st_uid == geteuid() else {
                throw .unusableDirectory(
                    path: path, .isOwnedBy(owner: status.st_uid, expected: geteuid()))
            }
        case S_IFLNK: throw .unusableDirectory(path: path, .isSymbolicLink)
        default: throw .unusableDirectory(path: path, .isNotADirectory)
        }
    }

    private static func open(_ path: String) throws(JournalError) -> Int32 {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(of: "open", at: path, code: errno) }
        return descriptor
    }

    /// The error for a refused opening of a directory: missing permission is not a failure of the
    /// disk.
    static func refusal(of call: String, at path: String, code: Int32) -> JournalError {
        switch code {
        case ENOENT: .unusableDirectory(path: path, .isMissing)
        case EACCES, EPERM: .unusableDirectory(path: path, .isForbidden)
        default: .system(SystemFailure(call: call, path: path, code: code))
        }
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

    private static func checkSafety(
        of descriptor: Int32, at path: String, fileSystem: Int?
    ) throws(JournalError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(.now("fstat", path)) }
        guard status.st_uid == geteuid() else {
            throw .unusableDirectory(
                path: path, .isOwnedBy(owner: status.st_uid, expected: geteuid()))
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .unusableDirectory(path: path, .isOpenToOthers(mode: status.st_mode & 0o7777))
        }
        let kind = fileSystem ?? reactor_file_system(descriptor)
        guard let name = remoteFileSystems[kind] else { return }
        throw .unusableDirectory(path: path, .isRemote(fileSystem: name))
    }

    // A link planted while the directory was open to others would make this process write to, or
    // remove the content of, any file of this user. SQLite opens some of them by their paths.
    private static func checkFiles(
        of directory: Int32, at path: String
    ) throws(JournalError) {
        for name in try names(of: directory, at: path) where isOfHistory(name) {
            var status = stat()
            guard unsafe fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                // SQLite may remove its log in between.
                if errno == ENOENT { continue }
                throw .system(.now("fstatat", path + "/" + name))
            }
            guard let fault = fault(of: status) else { continue }
            throw .unusableDirectory(path: path, .contains(file: name, fault))
        }
    }

    /// Whether a history has files of this name.
    private static func isOfHistory(_ name: String) -> Bool {
        ["journal.", "snapshot-"].contains { name.hasPrefix($0) }
            || ["reserve", "room.partial", "released-row", "last-action", backupMarkName]
                .contains(name)
    }

    private static func fault(of status: stat) -> FileFault? {
        if status.st_mode & S_IFMT != S_IFREG { return .isNotRegular }
        if status.st_nlink > 1 { return .hasNames(count: UInt64(status.st_nlink)) }
        if status.st_uid != geteuid() {
            return .isOwnedBy(owner: status.st_uid, expected: geteuid())
        }
        guard status.st_mode & 0o022 != 0 else { return nil }
        return .isWritableByOthers(mode: status.st_mode & 0o7777)
    }

    // Locks on these file systems may not exclude other machines.
    private static let remoteFileSystems: [Int: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x5346_414F: "AFS",
    ]

    private static func lock(
        in directory: Int32, at path: String, to purpose: Purpose
    ) throws(JournalError) -> Int32 {
        let flags = purpose == .own ? O_RDWR | O_CREAT : O_RDONLY
        let file = path + "/" + lockName
        let lock = unsafe openat(directory, lockName, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            if purpose == .examine, errno == ENOENT { return -1 }
            throw .system(.now("openat", file))
        }
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let failure = SystemFailure.now("flock", file)
            let holder = holder(in: lock)
            close(lock)
            guard failure.code == EWOULDBLOCK else { throw .system(failure) }
            throw .inUse(path: path, pid: holder)
        }
        guard FileIdentity(of: lockName, in: directory) == FileIdentity(of: lock) else {
            // A lock on a file that was replaced between the two calls has no effect. A process that
            // is being started may have a copy of the descriptor.
            flock(lock, LOCK_UN)
            close(lock)
            return try Self.lock(in: directory, at: path, to: purpose)
        }
        if purpose == .own { writeHolder(to: lock) }
        return lock
    }

    /// Checks that `lock` is the locked file of the directory.
    private static func share(
        _ lock: Int32, in directory: Int32, at path: String
    ) throws(JournalError) -> Int32 {
        guard FileIdentity(of: lockName, in: directory) == FileIdentity(of: lock),
            flock(lock, LOCK_EX | LOCK_NB) == 0, fcntl(lock, F_SETFD, FD_CLOEXEC) == 0
        else { throw .inUse(path: path, pid: holder(in: lock)) }
        return lock
    }

    // The process id is for people, so a disk without room for it is not an error. Its text has a
    // fixed width, so it needs room only once.
    private static func writeHolder(to lock: Int32) {
        let digits = String(getpid())
        let text = Array((String(repeating: " ", count: 11 - digits.count) + digits).utf8)
        _ = unsafe pwrite(lock, text + [UInt8(ascii: "\n")], text.count + 1, 0)
    }

    // If the directory's own name is lost, its content is lost too.
    static func synchronizeParent(
        of descriptor: Int32, at path: String
    ) throws(JournalError) {
        let parent = unsafe openat(descriptor, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // If the parent is not readable, only its owner can make it durable.
        guard parent >= 0 else { return }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw .system(.now("fsync", path + "/..")) }
    }

    private static func holder(in descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let digits = bytes[..<count].drop { $0 == UInt8(ascii: " ") }
            .prefix { $0 != UInt8(ascii: "\n") }
        return Int32(String(decoding: digits, as: UTF8.self))
    }
}
