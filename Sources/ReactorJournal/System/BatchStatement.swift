import GRDB
import GRDBSQLite

/// A statement over the columns of rows, driven by SQLite's own calls.
///
/// *Place*: beneath ``BatchTable``, because a value made for each column costs more than all else
/// about a row. Columns that a flipped bit has turned into anything are nil: nothing here traps.
/// *C*: `sqlite3_bind_…`, `sqlite3_step`, `sqlite3_column_…`.
@safe
struct BatchStatement {
    private let statement: SQLiteStatement

    /// Drives a statement that SQLite has made; it stays the connection's.
    init(_ db: Database, _ sql: String) throws {
        unsafe statement = try db.cachedStatement(sql: sql).sqliteStatement
        unsafe sqlite3_reset(statement)
    }

    /// Puts 64 bits in the place of a question mark, counted from 1.
    func bind(_ word: UInt64, at index: Int32) {
        unsafe sqlite3_bind_int64(statement, index, Int64(bitPattern: word))
    }

    /// Runs it with blobs in two places, which nobody copies, and forgets all that is bound.
    func run(
        _ first: Span<UInt8>, at firstIndex: Int32, _ second: Span<UInt8>, at secondIndex: Int32
    ) throws {
        try unsafe first.withUnsafeBytes { first in
            try unsafe second.withUnsafeBytes { second in
                defer { end() }
                try unsafe check(bind(first, at: firstIndex))
                try unsafe check(bind(second, at: secondIndex))
                _ = try step()
            }
        }
    }

    /// Takes a step: whether there is a row.
    func step() throws -> Bool {
        let code = unsafe sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw error(code)
    }

    // because what is too big for SQLite stays unbound, and is told of nowhere else
    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: Int32) -> DatabaseError {
        let words = unsafe sqlite3_errmsg(sqlite3_db_handle(statement))
        return DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: unsafe words.map { unsafe String(cString: $0) })
    }

    /// Ends it, so that it holds up no checkpoint and keeps nothing that is bound.
    func end() {
        unsafe sqlite3_reset(statement)
        unsafe sqlite3_clear_bindings(statement)
    }

    /// The 64 bits in a column, counted from 0; nil if it holds something else.
    func word(_ column: Int32) -> UInt64? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return unsafe UInt64(bitPattern: sqlite3_column_int64(statement, column))
    }

    /// The bytes in a column, copied once; nil if it holds something else.
    func bytes(_ column: Int32) -> [UInt8]? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        // because SQLite answers none for a blob of no bytes
        guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    private func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) -> Int32 {
        guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else {
            return unsafe sqlite3_bind_zeroblob(statement, index, 0)
        }
        return unsafe sqlite3_bind_blob64(statement, index, start, UInt64(bytes.count), nil)
    }
}
