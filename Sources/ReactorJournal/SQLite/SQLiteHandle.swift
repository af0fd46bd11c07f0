import CSQLite

/// SQLite's connection, kept open by its owner and by every statement on it.
@safe
final class SQLiteHandle {
    private var opened: OpaquePointer?

    init(_ file: String, isReadOnly: Bool) throws {
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = unsafe sqlite3_open_v2(
            file, &opened, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK else {
            // A connection whose opening failed may need to be released nevertheless.
            unsafe sqlite3_close(opened)
            unsafe opened = nil
            throw SQLiteError(code)
        }
    }

    deinit { unsafe sqlite3_close_v2(opened) }

    @unsafe var pointer: OpaquePointer {
        guard let opened = unsafe opened else {
            preconditionFailure("a closed connection is used")
        }
        return unsafe opened
    }

    /// Returns the error of the call that returned `code`, the last one on the connection. *C*:
    /// `sqlite3_errmsg`.
    func error(_ code: Int32) -> SQLiteError {
        let words = unsafe sqlite3_errmsg(pointer)
        return SQLiteError(code, unsafe words.map { unsafe String(cString: $0) })
    }

    func close() throws {
        guard let opened = unsafe opened else { return }
        let code = unsafe sqlite3_close(opened)
        guard code == SQLITE_OK else { throw error(code) }
        unsafe self.opened = nil
    }
}

/// An error of SQLite: its code and its text.
struct SQLiteError: Error {
    /// The extended result code, such as 3338 for `SQLITE_IOERR_ACCESS`.
    let code: Int32
    /// SQLite's error text.
    let message: String

    /// Creates an error from `code`, with the connection's text or else the text of the code.
    init(_ code: Int32, _ message: String? = nil) {
        self.code = code
        self.message = unsafe message ?? String(cString: sqlite3_errstr(code))
    }

    /// Whether the file's content is damaged.
    var isDamage: Bool {
        [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_MISMATCH].contains(code & 0xFF)
    }
}
