import CSQLite
import TestPrograms
import Testing

@testable import ReactorJournal

struct SQLiteConnectionTests {
    /// `SQLITE_CONSTRAINT_UNIQUE`, which Swift does not import.
    private static let notUnique: Int32 = 2_067

    private let home = TestDirectory()

    private func connection() throws -> SQLiteConnection {
        let db = try SQLiteConnection(home.path("file"))
        try db.execute("CREATE TABLE IF NOT EXISTS t(k INTEGER PRIMARY KEY, v TEXT UNIQUE)")
        return db
    }

    private func refusal(_ body: () throws -> Void) -> SQLiteError? {
        do { try body() } catch { return error as? SQLiteError }
        return nil
    }

    @Test("an error contains the extended code and SQLite's text")
    func errors() throws {
        let db = try connection()
        try db.run("INSERT INTO t(v) VALUES(?)", [.text("é")])
        let twice = refusal { try db.run("INSERT INTO t(v) VALUES(?)", [.text("é")]) }
        #expect(twice?.code == Self.notUnique)
        #expect(twice?.message == "UNIQUE constraint failed: t.v")
        let wrong = refusal { try db.execute("SELECT 1; SELEKT") }
        #expect(wrong?.code == SQLITE_ERROR)
        #expect(wrong?.message == "near \"SELEKT\": syntax error")
        #expect(refusal { _ = try db.statement("  ") }?.code == SQLITE_MISUSE)
        let missing = refusal {
            _ = try SQLiteConnection(home.path("none/file"), isReadOnly: true)
        }
        #expect(missing?.code == SQLITE_CANTOPEN)
        #expect(missing?.message == "unable to open database file")
    }

    @Test("a double-quoted name that is not a column is refused, and not read as text")
    func quotedNames() throws {
        let db = try connection()
        #expect(refusal { try db.execute("SELECT * FROM t WHERE v = \"none\"") } != nil)
        #expect(refusal { try db.execute("CREATE INDEX i ON t(\"none\")") } != nil)
    }

    @Test("a read-only connection writes nothing")
    func readOnly() throws {
        _ = try connection()
        let db = try SQLiteConnection(home.path("file"), isReadOnly: true)
        #expect(try db.integer("SELECT count(*) FROM t") == 0)
        #expect(refusal { try db.execute("DELETE FROM t") }?.code == SQLITE_READONLY)
    }

    @Test("a transaction that throws is rolled back, others are committed")
    func transactions() throws {
        let db = try connection()
        try db.transaction { try db.run("INSERT INTO t(v) VALUES('kept')") }
        let error = refusal {
            try db.transaction {
                try db.run("INSERT INTO t(v) VALUES('dropped')")
                try db.run("INSERT INTO t(v) VALUES('kept')")
            }
        }
        #expect(error?.code == Self.notUnique && !db.isInTransaction)
        #expect(try db.integer("SELECT count(*) FROM t") == 1)
    }

    @Test("another connection's lock is waited for until the timeout")
    func busy() throws {
        let db = try connection()
        let other = try connection()
        try other.execute("BEGIN IMMEDIATE")
        #expect(refusal { try db.transaction {} }?.code == SQLITE_BUSY)
        #expect(!db.isInTransaction)
        try other.execute("COMMIT")
        try db.transaction {}
    }

    @Test("a connection with a running statement refuses to close, and is released safely")
    func closing() throws {
        let db = try connection()
        try db.run("INSERT INTO t(v) VALUES('a'), ('b')")
        let select = try db.statement("SELECT v FROM t ORDER BY k")
        #expect(try select.step() && select.text(0) == "a")
        let error = refusal { try db.close() }
        #expect(error?.code == SQLITE_BUSY)
        #expect(error?.message.contains("unfinalized statements") == true)
        #expect(try select.step() && select.text(0) == "b")
        #expect(try !select.step())
    }

    @Test("a connection closes once, and its file can be opened again")
    func closed() throws {
        let db = try connection()
        try db.execute("PRAGMA journal_mode = WAL; INSERT INTO t(v) VALUES('a')")
        try db.close()
        try db.close()
        #expect(try connection().integer("SELECT count(*) FROM t") == 1)
    }
}
