import CSQLite
import Glibc

/// File-level functions of SQLite.
extension SQLiteConnection {
    /// The operating system's code for the last refused write of a commit: to the log, or to the
    /// file if there is no log. 0 if none was refused.
    ///
    /// *C*: `sqlite3_file_control`, and its equivalent for the log's file. `sqlite3_system_errno`
    /// has no code for a failed commit.
    var commitCode: Int32 {
        var log: UnsafeMutablePointer<sqlite3_file>?
        let status = unsafe sqlite3_file_control(
            pointer, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        guard status == SQLITE_OK, let log = unsafe log, let methods = unsafe log.pointee.pMethods,
            let control = unsafe methods.pointee.xFileControl
        else { return fileCode }
        var code: Int32 = 0
        let answer = unsafe control(log, SQLITE_FCNTL_LAST_ERRNO, &code)
        return answer == SQLITE_OK ? code : 0
    }

    /// The operating system's code for the last refused write to the file itself, as in a
    /// checkpoint. *C*: `sqlite3_file_control`.
    var fileCode: Int32 {
        var code: Int32 = 0
        let answer = unsafe sqlite3_file_control(
            pointer, "main", SQLITE_FCNTL_LAST_ERRNO, &code)
        return answer == SQLITE_OK ? code : 0
    }

    /// Sets how long a call waits for another connection's lock. *C*: `sqlite3_busy_timeout`.
    func setBusyTimeout(milliseconds: Int) {
        unsafe sqlite3_busy_timeout(pointer, Int32(clamping: milliseconds))
    }

    /// Sets whether the log remains when the last connection is closed. *C*:
    /// `sqlite3_file_control`.
    func setLogStays(_ isKept: Bool) {
        var flag: Int32 = isKept ? 1 : 0
        _ = unsafe sqlite3_file_control(
            pointer, "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
    }

    /// The extent of the log; nil if there is none.
    ///
    /// *Shape*: the head of `-shm`, by SQLite's "WAL-mode File Format": 4 bytes at 16 are the last
    /// frame, 4 at 96 the number of frames in the file, in native byte order. The two numbers are
    /// consistent only while the caller excludes other writers.
    var logExtent: LogExtent? {
        guard let region = unsafe sharedRegion(0, isExtended: false) else { return nil }
        return unsafe LogExtent(
            frameCount: Int(region.load(fromByteOffset: 16, as: UInt32.self)),
            checkpointedFrameCount: Int(region.load(fromByteOffset: 96, as: UInt32.self)))
    }

    /// Makes room in the log's index for `frameCount` frames.
    ///
    /// SQLite does so itself, but only after it has written the frames: a commit that fails there
    /// is in the log nevertheless. *Throws*: ``JournalError/system(_:)`` if there is no room. *C*:
    /// `xShmMap` of the file.
    func reserveLogIndex(frameCount: Int, _ file: String) throws(JournalError) {
        // The first region begins with 136 bytes of other data, in place of 34 frames.
        let last = (frameCount + 34) / 4_096
        guard unsafe sharedRegion(last, isExtended: true) == nil else { return }
        throw .system(SystemFailure(call: "xShmMap", path: file + "-shm", code: errno))
    }

    private func sharedRegion(_ index: Int, isExtended: Bool) -> UnsafeMutableRawPointer? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let status = unsafe sqlite3_file_control(
            pointer, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard status == SQLITE_OK, let file = unsafe file,
            let methods = unsafe file.pointee.pMethods, unsafe methods.pointee.iVersion >= 2,
            let map = unsafe methods.pointee.xShmMap
        else { return nil }
        var region: UnsafeMutableRawPointer?
        let answer = unsafe map(file, Int32(index), 32_768, isExtended ? 1 : 0, &region)
        return unsafe answer == SQLITE_OK ? region : nil
    }

    /// Runs a long statement; it ends with `SQLITE_INTERRUPT` soon after `isCancelled` returns
    /// true. *C*: `sqlite3_progress_handler`.
    func withCancellation<Result>(
        _ isCancelled: @escaping () -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        let check = CancellationCheck(isCancelled)
        let context = unsafe Unmanaged.passUnretained(check).toOpaque()
        // One step may copy a row of a megabyte, so only a few steps pass between two calls.
        unsafe sqlite3_progress_handler(
            pointer, 32,
            { context in
                guard let context = unsafe context else { return 0 }
                let check = unsafe Unmanaged<CancellationCheck>.fromOpaque(context)
                    .takeUnretainedValue()
                return check.isCancelled() ? 1 : 0
            }, context)
        defer { unsafe sqlite3_progress_handler(pointer, 0, nil, nil) }
        return try withExtendedLifetime(check) { try body() }
    }
}

/// Holds the closure that SQLite calls every few steps.
private final class CancellationCheck {
    let isCancelled: () -> Bool

    init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
}
