import Glibc

/// The reason why a data directory cannot be used, or can no longer be used.
public enum JournalError: Error, Equatable, Sendable {
    /// The directory is not suitable for a history.
    case unusableDirectory(path: String, DirectoryFault)
    /// Another process has locked the directory; `pid` is nil if the lock file does not name it.
    case inUse(path: String, pid: Int32?)
    /// The path leads to another directory or file than the open one, or to none.
    case moved(path: String)
    /// The requested rows have been trimmed, up to row `upTo`.
    case trimmed(file: String, upTo: UInt64)
    /// The journal has never contained this transaction.
    case absent(file: String, epoch: UInt64, sequence: UInt64)
    /// The journal is missing although other files show that it existed.
    case missing(file: String, reason: String)
    /// The file belongs to another program.
    case foreign(file: String, found: String)
    /// A newer version of the program wrote the file; it was not changed.
    case newerFormat(file: String, format: Int, known: Int)
    /// The content is not what was written.
    case damage(JournalDamage)
    /// The operating system refused a call.
    case system(SystemFailure)
    /// SQLite refused a statement.
    case database(DatabaseFailure)

    /// Whether another connection holds a lock. A retry may succeed.
    var isLocked: Bool {
        guard case .database(let failure) = self else { return false }
        return [5, 6].contains(failure.code & 0xFF)
    }

    /// Whether the disk failed to read or write. A retry must not be trusted.
    var isOfDisk: Bool {
        switch self {
        case .database(let failure): failure.code & 0xFF == 10 && !failure.isFull
        case .system(let failure): !failure.isFull && !failure.isOfProcess
        default: false
        }
    }

    /// Whether the content is not what was written.
    var isDamage: Bool {
        guard case .damage = self else { return false }
        return true
    }

    /// Whether a file is missing.
    var isAbsence: Bool {
        guard case .system(let failure) = self else { return false }
        return failure.code == ENOENT
    }

    /// Reports that the operation on `file` was cancelled.
    static func cancelled(_ file: String) -> JournalError {
        .system(SystemFailure(call: "read", path: file, code: ECANCELED))
    }

    /// Whether there was no room. A retry may succeed later.
    public var isFull: Bool {
        switch self {
        case .system(let failure): failure.isFull
        case .database(let failure): failure.isFull
        default: false
        }
    }
}

/// The reason why a directory is not suitable for a history.
public enum DirectoryFault: Equatable, Sendable {
    /// The directory does not exist.
    case isMissing
    /// Neither the directory nor its parent exists.
    case isWithoutParent
    /// The system does not permit this user to open or create it.
    case isForbidden
    /// The path is a symbolic link.
    case isSymbolicLink
    /// The path is not a directory.
    case isNotADirectory
    /// Another user owns it.
    case isOwnedBy(owner: UInt32, expected: UInt32)
    /// Other users may read it or write to it.
    case isOpenToOthers(mode: UInt32)
    /// It is on a network file system, where locks are not reliable.
    case isRemote(fileSystem: String)
    /// It would be inside a data directory, which has a history.
    case isInside(String)
    /// The directory to be created exists already.
    case isTaken
    /// A file of the history leads elsewhere, or others can change it.
    case contains(file: String, FileFault)
}

/// The reason why a file is not the history's own.
public enum FileFault: Equatable, Sendable {
    /// It is a link, a directory, a socket or a device.
    case isNotRegular
    /// The file has other names, by which it can be changed, or which a write would change.
    case hasNames(count: UInt64)
    /// Another user owns it.
    case isOwnedBy(owner: UInt32, expected: UInt32)
    /// Other users may write to it.
    case isWritableByOthers(mode: UInt32)
}

/// A place in a file with unexpected content.
public struct JournalDamage: Error, Equatable, Sendable {
    /// The file.
    package var file: String
    /// The row number; nil if the damage is not in a row.
    package var row: UInt64?
    /// The expected content.
    package var expected: String
    /// The actual content.
    package var got: String

    /// Creates a description of the damage.
    package init(file: String, row: UInt64?, expected: String, got: String) {
        self.file = file
        self.row = row
        self.expected = expected
        self.got = got
    }
}

/// A statement that SQLite refused.
public struct DatabaseFailure: Error, Equatable, Sendable {
    /// The file.
    package var file: String
    /// The purpose of the statement, such as `appending to`.
    package var purpose: String
    /// SQLite's extended code.
    package var code: Int32
    /// The `errno` value behind it; 0 if there is none.
    package var systemCode: Int32
    /// SQLite's error text.
    package var message: String

    /// Whether there was no room: on the disk, in a quota, or below the maximum size of a file.
    package var isFull: Bool {
        // SQLite reports only ENOSPC as "full", and the others as write errors.
        code & 0xFF == 13 || code == 778 && SystemFailure.fullCodes.contains(systemCode)
    }
}

extension JournalError: CustomStringConvertible {
    /// The failure, its subject, the expected and actual state, and the next step.
    public var description: String {
        switch self {
        case .unusableDirectory(let path, let fault): "data directory \(path) \(fault)"
        case .inUse(let path, let pid):
            "data directory \(path) is already used by "
                + (pid.map { "pid \($0)" } ?? "another process")
                + "; stop that process, or use another directory"
        case .moved(let path):
            "\(path) was removed or replaced while in use; no further change is stored"
        case .trimmed(let file, let number):
            "\(file) has been trimmed up to row \(number); continue from the current state"
        case .absent(let file, let epoch, let sequence):
            "\(file) has no transaction \(sequence) of epoch \(epoch); continue from the current state"
        case .missing(let file, let reason):
            "\(file) is missing, but \(reason); restore it, or move the directory away"
        case .foreign(let file, let found):
            "\(file) is not a journal: \(found); use another directory"
        case .newerFormat(let file, let format, let known):
            "\(file) has format \(format), this program reads up to \(known); the file was not "
                + "changed; run the newer program"
        case .damage(let damage): "\(damage)"
        case .system(let failure): "\(failure)"
        case .database(let failure): "\(failure)"
        }
    }
}

extension DirectoryFault: CustomStringConvertible {
    /// The fault and its remedy; follows the path in a sentence.
    public var description: String {
        switch self {
        case .isMissing: "is missing; create it with mode 0700"
        case .isWithoutParent:
            "cannot be created: its parent directory is missing; create that"
        case .isForbidden:
            "cannot be opened or created by uid \(geteuid()); use another, or chmod this one"
        case .isSymbolicLink: "is a symbolic link; name the directory itself"
        case .isNotADirectory: "is not a directory; name another path"
        case .isOwnedBy(let owner, let expected):
            "belongs to uid \(owner), expected \(expected); chown it, or use another"
        case .isOpenToOthers(let mode):
            "has mode \(String(mode, radix: 8)), expected 700; chmod it"
        case .isRemote(let fileSystem):
            "is on \(fileSystem), where locks are not reliable; use a local disk"
        case .isInside(let directory):
            "is inside the data directory \(directory); name another path"
        case .isTaken: "exists already; name a new directory"
        case .contains(let file, let fault): "has the file \(file), which \(fault)"
        }
    }
}

extension FileFault: CustomStringConvertible {
    /// The fault and its remedy; follows the file's name in a sentence.
    public var description: String {
        switch self {
        case .isNotRegular:
            "is a link or no regular file; put the file itself in its place, or restore a backup"
        case .hasNames(let count):
            "has \(count) names (hard links), expected 1; copy the directory, and use the copy"
        case .isOwnedBy(let owner, let expected):
            "belongs to uid \(owner), expected \(expected); chown it"
        case .isWritableByOthers(let mode):
            "has mode \(String(mode, radix: 8)), writable by others; chmod it to 600"
        }
    }
}

extension JournalDamage: CustomStringConvertible {
    /// The file, the row, the expected and actual content, and the next step.
    public var description: String {
        file + (row.map { ", row \($0)" } ?? "") + ": expected \(expected), got \(got); "
            + "`reactord doctor` examines it and salvages a copy"
    }
}

extension DatabaseFailure: CustomStringConvertible {
    /// The purpose, the file, SQLite's error text and the system's.
    public var description: String {
        "\(purpose) \(file): \(message) (SQLite code \(code))"
            + (systemCode == 0 ? "" : ": \(SystemFailure.words(systemCode))")
    }
}
