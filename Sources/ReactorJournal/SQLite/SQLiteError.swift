import CSQLite

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
