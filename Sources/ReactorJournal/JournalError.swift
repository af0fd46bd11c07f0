import Glibc

/// Why a data directory cannot be used, or not any further.
public enum JournalError: Error, Equatable, Sendable {
    /// The directory is not one to keep a history in.
    case unusableDirectory(path: String, DirectoryFault)
    /// Somebody else has locked the directory; nil where the lock does not say who.
    case inUse(path: String, pid: Int32?)
    /// The path leads to another directory or file by now, or to none.
    case moved(path: String)
    /// Rows were asked for that have been trimmed: those up to the one numbered so are gone.
    case trimmed(file: String, upTo: UInt64)
    /// There is no such transaction in the journal, and there never was.
    case absent(file: String, epoch: UInt64, sequence: UInt64)
    /// There is no journal where one is expected.
    case missing(file: String, reason: String)
    /// The file is some other program's.
    case foreign(file: String, found: String)
    /// A newer version of the program wrote it; nothing of it was touched.
    case newerFormat(file: String, format: Int, known: Int)
    /// What is there is not what was written.
    case damage(JournalDamage)
    /// The operating system refused a call.
    case system(SystemFailure)
    /// SQLite refused a statement.
    case database(DatabaseFailure)

    /// Whether somebody else holds a lock, which may pass.
    var isLocked: Bool {
        guard case .database(let failure) = self else { return false }
        return [5, 6].contains(failure.code & 0xFF)
    }

    /// Whether a disk failed to read or write, which no second try mends.
    var isOfDisk: Bool {
        switch self {
        case .database(let failure): failure.code & 0xFF == 10 && !failure.isFull
        case .system(let failure): !failure.isFull && !failure.isOfProcess
        default: false
        }
    }

    /// Whether there was no room, which may pass.
    public var isFull: Bool {
        switch self {
        case .system(let failure): failure.isFull
        case .database(let failure): failure.isFull
        default: false
        }
    }
}

/// Why a directory is not one to keep a history in.
public enum DirectoryFault: Equatable, Sendable {
    /// Nothing is there.
    case isMissing
    /// Nothing is there, nor the directory that it would be in.
    case isWithoutParent
    /// The system does not let this user make it there.
    case isForbidden
    /// It is a symbolic link.
    case isSymbolicLink
    /// It is something else.
    case isNotADirectory
    /// Somebody else owns it.
    case isOwnedBy(owner: UInt32, expected: UInt32)
    /// Others may read it or write to it.
    case isOpenToOthers(mode: UInt32)
    /// It lies on another machine, where locks do not hold.
    case isRemote(fileSystem: String)
    /// It is to stand in a data directory, which holds a history of its own.
    case isInside(String)
}

/// A place in a file at which something else was expected.
public struct JournalDamage: Error, Equatable, Sendable {
    /// The file.
    public var file: String
    /// The number of the row; nil where the damage is in no row.
    public var row: UInt64?
    /// What should have been there.
    public var expected: String
    /// What was there.
    public var got: String

    /// Describes a place in `file` at which something else was expected.
    public init(file: String, row: UInt64?, expected: String, got: String) {
        self.file = file
        self.row = row
        self.expected = expected
        self.got = got
    }
}

/// One refused statement: in which file, what it was to do, and what SQLite answered.
public struct DatabaseFailure: Error, Equatable, Sendable {
    /// The file.
    public var file: String
    /// What was being done.
    public var purpose: String
    /// SQLite's extended code.
    public var code: Int32
    /// The `errno` value behind it; 0 if there is none.
    public var systemCode: Int32
    /// SQLite's words.
    public var message: String

    /// Whether there was no room: on the disk, in a quota, or below the largest size of a file.
    public var isFull: Bool {
        // because SQLite says "full" for ENOSPC alone, and calls the others errors of a write
        code & 0xFF == 13 || code == 778 && SystemFailure.fullCodes.contains(systemCode)
    }
}

extension JournalError: CustomStringConvertible {
    /// What failed, on what, expected and got, and the next step.
    public var description: String {
        switch self {
        case .unusableDirectory(let path, let fault): "data directory \(path) \(fault)"
        case .inUse(let path, let pid):
            "data directory \(path) is already used by "
                + (pid.map { "pid \($0)" } ?? "another process")
                + "; stop that process, or use another directory"
        case .moved(let path):
            "\(path) was removed or replaced while in use; nothing more is kept"
        case .trimmed(let file, let number):
            "\(file) has been trimmed up to row \(number); begin from the present state"
        case .absent(let file, let epoch, let sequence):
            "\(file) has no transaction \(sequence) of epoch \(epoch); begin from the present state"
        case .missing(let file, let reason):
            "\(file) is missing, but \(reason); put it back, or move the directory away"
        case .foreign(let file, let found):
            "\(file) is no journal: \(found); use another directory"
        case .newerFormat(let file, let format, let known):
            "\(file) has format \(format), this program knows up to \(known); nothing was "
                + "touched; run the newer program"
        case .damage(let damage): "\(damage)"
        case .system(let failure): "\(failure)"
        case .database(let failure): "\(failure)"
        }
    }
}

extension DirectoryFault: CustomStringConvertible {
    /// The fault and its remedy, to stand behind the path.
    public var description: String {
        switch self {
        case .isMissing: "is missing; make it, with mode 0700"
        case .isWithoutParent:
            "cannot be made: the directory that it is to be in is missing; make that"
        case .isForbidden:
            "cannot be made by uid \(geteuid()); use another place, or chmod that one"
        case .isSymbolicLink: "is a symbolic link; name the directory itself"
        case .isNotADirectory: "is not a directory; name another path"
        case .isOwnedBy(let owner, let expected):
            "belongs to uid \(owner), expected \(expected); chown it, or use another"
        case .isOpenToOthers(let mode):
            "has mode \(String(mode, radix: 8)), expected 700; chmod it"
        case .isRemote(let fileSystem):
            "lies on \(fileSystem), where locks do not hold; use a disk of this machine"
        case .isInside(let directory): "lies in the data directory \(directory); name another place"
        }
    }
}

extension JournalDamage: CustomStringConvertible {
    /// The file, the row, expected and got, and the next step.
    public var description: String {
        file + (row.map { ", row \($0)" } ?? "") + ": expected \(expected), got \(got); "
            + "`reactord doctor` says more and salvages a copy"
    }
}

extension DatabaseFailure: CustomStringConvertible {
    /// The purpose, the file, SQLite's words and the system's.
    public var description: String {
        "\(purpose) \(file): \(message) (SQLite code \(code))"
            + (systemCode == 0 ? "" : ": \(SystemFailure.words(systemCode))")
    }
}
