import CSQLite
import TestPrograms
import Testing

@testable import ReactorJournal

struct SQLiteStatementTests {
    private let home = TestDirectory()

    private func connection() throws -> SQLiteConnection {
        let db = try SQLiteConnection(home.path("file"))
        try db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, a, b)")
        return db
    }

    @Test("a bound value is read back, and a column of another type is nil")
    func values() throws {
        let db = try connection()
        let insert = try db.statement("INSERT INTO t(k, a, b) VALUES(?, ?, ?)")
        insert.bind(.max, at: 1)
        let (some, none): ([UInt8], [UInt8]) = ([1, 0, 255], [])
        try insert.run(some.span, at: 2, none.span, at: 3)
        try db.run("INSERT INTO t(k, a, b) VALUES(?, ?, NULL)", [.word(7), .text("é\0x")])
        let select = try db.statement("SELECT k, a, b FROM t ORDER BY k")
        defer { select.end() }
        #expect(try select.step())
        #expect(select.word(0) == .max && select.integer(0) == -1)
        #expect(select.bytes(1) == [1, 0, 255] && select.bytes(2) == [])
        #expect(select.text(0) == nil && select.bytes(0) == nil && select.word(1) == nil)
        #expect(try select.step())
        #expect(select.text(1) == "é\0x" && select.bytes(1) == nil && select.integer(1) == nil)
        #expect(select.integer(2) == nil && select.text(2) == nil && select.bytes(2) == nil)
        #expect(try !select.step())
    }

    @Test("a statement is prepared once, and begins without bindings and at the first row")
    func kept() throws {
        let db = try connection()
        try db.execute("INSERT INTO t(k, a) VALUES(1, 10), (2, 20)")
        let sql = "SELECT a FROM t WHERE ? IS NULL OR k = ? ORDER BY k"
        let first = try db.statement(sql)
        try first.bind([.word(2), .word(2)])
        #expect(try first.step() && first.integer(0) == 20)
        let second = try db.statement(sql)
        #expect(first === second)
        #expect(try second.step() && second.integer(0) == 10)
        second.end()
    }

    @Test("a statement stays usable after its table has changed")
    func changedTable() throws {
        let db = try connection()
        let sql = "SELECT count(*) FROM t"
        let count = try db.statement(sql)
        #expect(try count.step() && count.integer(0) == 0)
        count.end()
        try db.execute("ALTER TABLE t ADD COLUMN c; INSERT INTO t(c) VALUES(1)")
        #expect(try db.statement(sql).step() && count.integer(0) == 1)
        count.end()
    }

    @Test("a blob above SQLite's limit is refused, and no binding remains")
    func tooLarge() throws {
        let db = try connection()
        unsafe sqlite3_limit(db.pointer, SQLITE_LIMIT_LENGTH, 1_000)
        let insert = try db.statement("INSERT INTO t(k, a, b) VALUES(?, ?, ?)")
        let (small, large): ([UInt8], [UInt8]) = ([1], Array(repeating: 1, count: 1_001))
        insert.bind(1, at: 1)
        let error = #expect(throws: SQLiteError.self) {
            try insert.run(small.span, at: 2, large.span, at: 3)
        }
        #expect(error?.code == SQLITE_TOOBIG)
        try insert.run(small.span, at: 2)
        #expect(try db.integer("SELECT count(*) FROM t WHERE b IS NULL AND k = 1") == 1)
    }
}
