import CSQLite

/// One prepared statement: its bindings, its steps, and the columns of its row.
///
/// *Place*: below the tables, which read columns directly. A column whose type a flipped bit has
/// changed is nil; nothing here traps. *C*: `sqlite3_bind_…`, `sqlite3_step`, `sqlite3_column_…`.
@safe
final class SQLiteStatement {
    private let statement: OpaquePointer
    /// Keeps the connection open while the statement exists.
    private let handle: SQLiteHandle

    /// Prepares a statement; `isKept` is true if it will run repeatedly. *C*: `sqlite3_prepare_v3`.
    init(_ sql: String, on handle: SQLiteHandle, isKept: Bool) throws {
        var made: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = unsafe sqlite3_prepare_v3(handle.pointer, sql, -1, flags, &made, nil)
        guard code == SQLITE_OK else { throw handle.error(code) }
        guard let made = unsafe made else { throw SQLiteError(SQLITE_MISUSE, "an empty statement") }
        unsafe statement = made
        self.handle = handle
    }

    deinit { unsafe sqlite3_finalize(statement) }

    /// Binds copies of the values to the question marks, in order.
    func bind(_ values: [SQLiteValue]) throws {
        for (index, value) in zip((1 as Int32)..., values) {
            switch value {
            case .word(let word): bind(word, at: index)
            case .text(let text):
                try expectOK(
                    unsafe sqlite3_bind_text(
                        statement, index, text, Int32(text.utf8.count), Self.copies))
            }
        }
    }

    /// Binds 64 bits to a question mark, counted from 1.
    func bind(_ word: UInt64, at index: Int32) {
        unsafe sqlite3_bind_int64(statement, index, Int64(bitPattern: word))
    }

    /// Runs the statement with a blob that is not copied, and clears all bindings.
    func run(_ bytes: Span<UInt8>, at index: Int32) throws {
        try unsafe bytes.withUnsafeBytes { bytes in
            defer { end() }
            try expectOK(unsafe bind(bytes, at: index))
            _ = try step()
        }
    }

    /// Runs the statement with two blobs that are not copied, and clears all bindings.
    func run(
        _ first: Span<UInt8>, at firstIndex: Int32, _ second: Span<UInt8>, at secondIndex: Int32
    ) throws {
        try unsafe first.withUnsafeBytes { first in
            try unsafe second.withUnsafeBytes { second in
                defer { end() }
                try expectOK(unsafe bind(first, at: firstIndex))
                try expectOK(unsafe bind(second, at: secondIndex))
                _ = try step()
            }
        }
    }

    /// Advances to the next row; returns false if there is none.
    func step() throws -> Bool {
        let code = unsafe sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw handle.error(code)
    }

    /// Resets the statement, so that it does not delay a checkpoint, and clears all bindings.
    func end() {
        unsafe sqlite3_reset(statement)
        unsafe sqlite3_clear_bindings(statement)
    }

    /// Returns the integer in a column, counted from 0; nil if the column has another type.
    func integer(_ column: Int32) -> Int64? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(statement, column)
    }

    /// Returns the 64 bits in a column; nil if the column has another type.
    func word(_ column: Int32) -> UInt64? { integer(column).map(UInt64.init(bitPattern:)) }

    /// Returns a copy of the bytes in a column; nil if the column has another type.
    func bytes(_ column: Int32) -> [UInt8]? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        return unsafe copy(sqlite3_column_blob(statement, column), of: column)
    }

    /// Returns a copy of the text in a column; nil if the column has another type.
    func text(_ column: Int32) -> String? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_TEXT else { return nil }
        let start = unsafe UnsafeRawPointer(sqlite3_column_text(statement, column))
        return unsafe String(decoding: copy(start, of: column), as: UTF8.self)
    }

    private func copy(_ start: UnsafeRawPointer?, of column: Int32) -> [UInt8] {
        // SQLite returns no address for an empty value.
        guard let start = unsafe start else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    private func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) -> Int32 {
        guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else {
            return unsafe sqlite3_bind_zeroblob(statement, index, 0)
        }
        return unsafe sqlite3_bind_blob64(statement, index, start, UInt64(bytes.count), nil)
    }

    // SQLite does not bind a value that is too large, and no later call reports it.
    private func expectOK(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw handle.error(code) }
    }

    /// Makes SQLite copy the bound value. *C*: `SQLITE_TRANSIENT`.
    private static var copies: sqlite3_destructor_type? {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type?.self)
    }
}

/// A value to bind to a statement's question mark.
enum SQLiteValue {
    /// 64 bits, as an integer.
    case word(UInt64)
    /// Text.
    case text(String)
}
