import CSQLite

/// One connection to one file, through SQLite's C interface.
///
///     let db = try SQLiteConnection("journal.sqlite", isReadOnly: true)
///     let count = try db.integer("SELECT count(*) FROM batch")
///
/// *Place*: below ``JournalDatabase``, which passes it to one thread at a time. *Owner*: one thread
/// at a time, since SQLite uses no locks in this mode. Every error is a ``SQLiteError``.
@safe
final class SQLiteConnection {
    /// The version of SQLite, such as "3.40.1". *C*: `sqlite3_libversion`.
    static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

    private let handle: SQLiteHandle
    /// Prepared statements by their text, kept until the connection is closed.
    private var statements: [String: SQLiteStatement] = [:]

    /// Opens `file`; creates it if it is missing and `isReadOnly` is false. Calls wait for other
    /// connections' locks for up to `busyMilliseconds`. *C*: `sqlite3_open_v2`.
    init(_ file: String, isReadOnly: Bool = false, busyMilliseconds: Int = 0) throws {
        handle = try SQLiteHandle(file, isReadOnly: isReadOnly)
        setBusyTimeout(milliseconds: busyMilliseconds)
        unsafe reactor_refuse_quoted_text(pointer)
    }

    /// SQLite's pointer to the connection. *Owner*: this type; valid until ``close()``.
    @unsafe var pointer: OpaquePointer { unsafe handle.pointer }

    /// Whether a transaction is open. *C*: `sqlite3_get_autocommit`.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(pointer) == 0 }

    /// Returns the prepared statement of this text, reset and without bound values.
    ///
    /// *Owner*: the caller ends it before any other code requests the same text. *C*:
    /// `sqlite3_prepare_v3`.
    func statement(_ sql: String) throws -> SQLiteStatement {
        if let statement = statements[sql] {
            statement.end()
            return statement
        }
        let statement = try SQLiteStatement(sql, on: handle, isKept: true)
        statements[sql] = statement
        return statement
    }

    /// Runs all statements of a text and ignores their rows. *C*: `sqlite3_exec`.
    func execute(_ sql: String) throws {
        let code = unsafe sqlite3_exec(pointer, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw handle.error(code) }
    }

    /// Runs one statement with values in place of its question marks.
    func run(_ sql: String, _ values: [SQLiteValue] = []) throws {
        let statement = try statement(sql)
        defer { statement.end() }
        try statement.bind(values)
        while try statement.step() {}
    }

    /// Opens the blob in a row, to be read or overwritten in pieces.
    func blob(
        in table: String, column: String, row: UInt64, isWritable: Bool
    ) throws -> SQLiteBlob {
        try SQLiteBlob(handle, table, column, row, isWritable: isWritable)
    }

    /// Returns the integer in the first column of the first row; nil if there is none.
    ///
    /// *Cost*: prepares the statement each time, since some pragmas are evaluated at that moment.
    func integer(_ sql: String, _ values: [SQLiteValue] = []) throws -> Int64? {
        let statement = try SQLiteStatement(sql, on: handle, isKept: false)
        try statement.bind(values)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Runs `body` in a transaction, which is rolled back if `body` throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Rolls back the open transaction, unless SQLite has done so already.
    func rollBack() { if isInTransaction { try? execute("ROLLBACK") } }

    /// Moves the log's frames into the file; returns the extent of the log. *C*:
    /// `sqlite3_wal_checkpoint_v2`.
    func checkpoint(_ mode: CheckpointMode) throws -> LogExtent {
        var (frameCount, checkpointedFrameCount): (Int32, Int32) = (-1, -1)
        let code = unsafe sqlite3_wal_checkpoint_v2(
            pointer, "main", mode.code, &frameCount, &checkpointedFrameCount)
        guard code == SQLITE_OK else { throw handle.error(code) }
        return LogExtent(
            frameCount: Int(frameCount), checkpointedFrameCount: Int(checkpointedFrameCount))
    }

    /// What a checkpoint waits for.
    enum CheckpointMode {
        /// Moves what it can without waiting.
        case passive
        /// Waits until all frames are moved and no reader needs the log, which is then restarted.
        case restart
        /// Like ``restart``; the log is then truncated.
        case truncate

        fileprivate var code: Int32 {
            switch self {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        }
    }

    /// Closes the connection; it cannot be used afterwards. A connection that is released is closed
    /// too, and errors are ignored. *C*: `sqlite3_close`.
    func close() throws {
        statements = [:]
        try handle.close()
    }
}

/// The extent of the write-ahead log, and of its part that is also in the file.
struct LogExtent: Equatable, Sendable {
    /// Number of frames with commits.
    var frameCount: Int
    /// Number of those frames that are in the file.
    var checkpointedFrameCount: Int
}
