import GRDB
import GRDBSQLite
import Glibc

/// How far the write-ahead log reaches, and how much of it the file has as well.
struct LogExtent: Equatable, Sendable {
    /// Frames that hold commits.
    var frameCount: Int
    /// Frames of those that are in the file.
    var checkpointedFrameCount: Int
}

/// What SQLite's interface offers beneath its statements.
extension Database {
    /// Which SQLite it is, such as "3.40.1". *C*: `sqlite3_libversion`.
    static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

    /// What the operating system answered when a write was refused last, by a commit: the log's,
    /// or the file's where there is no log. 0 if none was.
    ///
    /// *C*: `sqlite3_file_control`, and the same of the log's file. `sqlite3_system_errno` is not
    /// told where it is a commit that fails.
    var commitCode: Int32 {
        var log: UnsafeMutablePointer<sqlite3_file>?
        let status = unsafe sqlite3_file_control(
            sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        guard status == SQLITE_OK, let log = unsafe log, let methods = unsafe log.pointee.pMethods,
            let control = unsafe methods.pointee.xFileControl
        else { return fileCode }
        var code: Int32 = 0
        let answer = unsafe control(log, SQLITE_FCNTL_LAST_ERRNO, &code)
        return answer == SQLITE_OK ? code : 0
    }

    /// What the operating system answered when a write to the file itself was refused last, which
    /// is what a checkpoint does. *C*: `sqlite3_file_control`.
    var fileCode: Int32 {
        var code: Int32 = 0
        let answer = unsafe sqlite3_file_control(
            sqliteConnection, "main", SQLITE_FCNTL_LAST_ERRNO, &code)
        return answer == SQLITE_OK ? code : 0
    }

    /// Says for how long to wait for another's lock. *C*: `sqlite3_busy_timeout`.
    func setWaitForOthers(milliseconds: Int) {
        unsafe sqlite3_busy_timeout(sqliteConnection, Int32(clamping: milliseconds))
    }

    /// Says whether the log stays when the last connection is closed. *C*: `sqlite3_file_control`.
    func setLogStays(_ isKept: Bool) {
        var flag: Int32 = isKept ? 1 : 0
        _ = unsafe sqlite3_file_control(
            sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
    }

    /// How far the log reaches; nil where there is none.
    ///
    /// *Shape*: the head of `-shm`, by SQLite's "WAL-mode File Format": 4 bytes at 16 are the
    /// last frame, 4 at 96 those that are in the file, in the machine's order. Only who keeps other
    /// writers away gets numbers that belong together.
    var logExtent: LogExtent? {
        guard let region = unsafe sharedRegion(0, isExtended: false) else { return nil }
        return unsafe LogExtent(
            frameCount: Int(region.load(fromByteOffset: 16, as: UInt32.self)),
            checkpointedFrameCount: Int(region.load(fromByteOffset: 96, as: UInt32.self)))
    }

    /// Sees to it that the log's index has room for `frameCount` frames.
    ///
    /// SQLite does so itself, but behind the frames: a commit that fails there stands in the log
    /// all the same. *Throws*: ``JournalError/system(_:)`` where there is no room.
    /// *C*: `xShmMap` of the file.
    func reserveLogIndex(frameCount: Int, _ file: String) throws(JournalError) {
        // because the first region begins with 136 bytes of other things, 34 frames have no place
        let last = (frameCount + 34) / 4_096
        guard unsafe sharedRegion(last, isExtended: true) == nil else { return }
        throw .system(SystemFailure(call: "xShmMap", path: file + "-shm", code: errno))
    }

    private func sharedRegion(_ index: Int, isExtended: Bool) -> UnsafeMutableRawPointer? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let status = unsafe sqlite3_file_control(
            sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard status == SQLITE_OK, let file = unsafe file,
            let methods = unsafe file.pointee.pMethods, unsafe methods.pointee.iVersion >= 2,
            let map = unsafe methods.pointee.xShmMap
        else { return nil }
        var region: UnsafeMutableRawPointer?
        let answer = unsafe map(file, Int32(index), 32_768, isExtended ? 1 : 0, &region)
        return unsafe answer == SQLITE_OK ? region : nil
    }

    /// Runs a statement that takes long; it ends with `SQLITE_INTERRUPT` soon after `isCancelled`
    /// says so. *C*: `sqlite3_progress_handler`.
    func whileWanted<Result>(
        _ isCancelled: @escaping () -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        let asked = Asked(isCancelled)
        let context = unsafe Unmanaged.passUnretained(asked).toOpaque()
        // because a step may copy a row of a megabyte, it is asked every few
        unsafe sqlite3_progress_handler(
            sqliteConnection, 32,
            { context in
                guard let context = unsafe context else { return 0 }
                let asked = unsafe Unmanaged<Asked>.fromOpaque(context).takeUnretainedValue()
                return asked.isCancelled() ? 1 : 0
            }, context)
        defer { unsafe sqlite3_progress_handler(sqliteConnection, 0, nil, nil) }
        return try withExtendedLifetime(asked) { try body() }
    }
}

/// What a statement asks now and then.
private final class Asked {
    let isCancelled: () -> Bool

    init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
}
