import CXXHash
import Glibc

/// The directory in which a daemon's history lies, held open, known to be safe, and locked.
///
/// *Place*: made before anything in it is looked at, and kept until the process ends. What the
/// room does itself goes through the descriptor; SQLite is handed paths, so ``isInPlace`` asks
/// whether the path still leads here.
///
/// Safe means: a real directory of ours with mode 0700, on a file system whose locks hold.
@safe
public final class DataDirectory: Sendable {
    /// The path it was opened by, absolute.
    public let path: String
    let descriptor: Int32
    /// Whether what is written into it can be relied on.
    let health = JournalHealth()
    private let lock: Int32
    private let identity: FileIdentity?
    private let lockIdentity: FileIdentity?

    /// What the caller is going to do with the directory.
    enum Purpose {
        /// To live in it: it is made if nothing is there, and the lock file is ours.
        case own
        /// To look: nothing is made, and a lock file is locked only if there is one.
        case examine
    }

    /// Opens, checks and locks the directory at `path`; makes it if nothing is there.
    ///
    /// *Throws*: ``JournalError/unusableDirectory(path:_:)`` with the reason, or
    /// ``JournalError/inUse(path:pid:)`` while somebody else holds it.
    public convenience init(at path: String) throws(JournalError) {
        try self.init(at: path, to: .own)
    }

    init(
        at path: String, to purpose: Purpose, fileSystem: Int? = nil
    ) throws(JournalError) {
        self.path = Self.absolute(path)
        let isMade = unsafe purpose == .own && mkdir(path, 0o700) == 0
        if purpose == .own, !isMade, errno != EEXIST { throw Self.refusal(toMake: path) }
        try Self.checkKind(of: path)
        descriptor = try Self.open(path)
        identity = FileIdentity(of: descriptor)
        // because a class that throws half-made is not deinitialised
        do throws(JournalError) {
            try Self.checkSafety(of: descriptor, at: path, fileSystem: fileSystem)
            if isMade { try Self.synchronizeParent(of: descriptor, at: path) }
            lock = try Self.lock(in: descriptor, at: path, to: purpose)
            lockIdentity = FileIdentity(of: lock)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        if lock >= 0 { close(lock) }
        close(descriptor)
    }

    /// The name of the file that is locked.
    static let lockName = "journal.lock"

    /// Whether the path still leads to the directory that was opened, and the lock that is held is
    /// the one that others would find. *C*: `statx`.
    public var isInPlace: Bool {
        guard FileIdentity(at: path) == identity else { return false }
        return lock < 0 || identity(of: Self.lockName) == lockIdentity
    }

    /// The nanosecond since 1970 at which a name in the directory changed last; nil where the path
    /// leads elsewhere. *C*: `statx`.
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

    // because open answers the same error for a link, a file and a fifo: look first for the reason,
    // then open without following links, so that a swap in between is refused as well
    private static func checkKind(of path: String) throws(JournalError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .system(.now("lstat", path)) }
            throw .unusableDirectory(path: path, .isMissing)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return
        case S_IFLNK: throw .unusableDirectory(path: path, .isSymbolicLink)
        default: throw .unusableDirectory(path: path, .isNotADirectory)
        }
    }

    private static func open(_ path: String) throws(JournalError) -> Int32 {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.now("open", path)) }
        return descriptor
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

    // because a lock there may be another machine's, or nobody's
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
            // because a file that was replaced between the two calls is no lock
            close(lock)
            return try Self.lock(in: directory, at: path, to: purpose)
        }
        if purpose == .own {
            // because the pid is for people, a disk that has no room for it is no reason to stop;
            // its width is the same always, so that it takes none
            let digits = String(getpid())
            let text = Array((String(repeating: " ", count: 11 - digits.count) + digits).utf8)
            _ = unsafe pwrite(lock, text + [UInt8(ascii: "\n")], text.count + 1, 0)
        }
        return lock
    }

    // because a directory whose name is lost is lost with all that is in it
    static func synchronizeParent(
        of descriptor: Int32, at path: String
    ) throws(JournalError) {
        let parent = unsafe openat(descriptor, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // because a parent that may be written and not read can be made durable by its owner alone
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
