import GRDB

/// The rows of a journal, over one connection.
struct BatchTable {
    let db: Database
    let file: String

    init(_ db: Database, in file: String) {
        self.db = db
        self.file = file
    }

    private static let columns = "number, epoch, after, sequence, time, deltas, facts, chain"

    /// Appends a row behind `position`, and answers where the next one stands.
    func append(
        _ batch: JournalBatch, behind position: JournalPosition, at time: Int64
    ) throws -> JournalPosition {
        let number = position.number + 1
        // because a clock may be set back, and a history does not go back
        let time = max(time, position.time)
        let chain = JournalRow.chain(
            of: [number, batch.epoch, batch.after, batch.sequence, UInt64(bitPattern: time)],
            batch.bytes.span.extracting(batch.range), batch.facts.span, behind: position.chain)
        let insert = try db.cachedStatement(
            sql: "INSERT INTO batch(\(Self.columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?)")
        insert.setUncheckedArguments([
            Column.word(number), Column.word(batch.epoch), Column.word(batch.after),
            Column.word(batch.sequence), time.databaseValue,
            Column.bytes(batch.bytes[batch.range]), Column.bytes(batch.facts[...]),
            Column.word(chain),
        ])
        try insert.execute()
        return JournalPosition(
            number: number, epoch: batch.epoch, sequence: batch.sequence, time: time, chain: chain)
    }

    /// Puts a row back as it was.
    func insert(_ row: JournalRow) throws {
        let insert = try db.cachedStatement(
            sql: "INSERT INTO batch(\(Self.columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?)")
        try insert.execute(arguments: [
            Column.word(row.number), Column.word(row.epoch), Column.word(row.after),
            Column.word(row.sequence), row.time.databaseValue, Column.bytes(row.deltas[...]),
            Column.bytes(row.facts[...]), Column.word(row.chain),
        ])
    }

    /// The rows behind the one numbered `number`, in order: at least one if there is any, then as
    /// many as fit into `rowsMax` and `bytesMax`.
    func rows(
        behind number: UInt64, rowsMax: Int, bytesMax: Int
    ) throws -> (rows: [JournalRow], damage: JournalError?) {
        let select = try db.cachedStatement(
            sql: "SELECT \(Self.columns) FROM batch WHERE number > ? ORDER BY number")
        let cursor = try Row.fetchCursor(select, arguments: [Column.word(number)])
        var rows: [JournalRow] = []
        var bytes = 0
        do {
            while rows.count < rowsMax, bytes < bytesMax, let row = try cursor.next() {
                rows.append(try decode(row, expected: number + UInt64(rows.count) + 1))
                bytes += rows[rows.count - 1].deltas.count + rows[rows.count - 1].facts.count
            }
        } catch {
            let failure = JournalDatabase.failure(error, "reading", file, systemCode: db.logCode)
            return (rows, named(failure, row: number + UInt64(rows.count) + 1))
        }
        return (rows, nil)
    }

    /// Where the row behind the one numbered `number` stands, by what the row itself says; nil if
    /// there is no such row.
    func position(of number: UInt64) throws -> JournalPosition? {
        let select = try db.cachedStatement(
            sql: "SELECT number, epoch, sequence, time, chain FROM batch WHERE number = ?")
        guard let row = try Row.fetchOne(select, arguments: [Column.word(number)]) else {
            return nil
        }
        let words = (0..<5).compactMap { row.word($0) }
        guard let position = JournalPosition(words: words) else {
            throw damage(number, "integers", got: "something else")
        }
        return position
    }

    /// The greatest number of a row; nil if there is none.
    func lastNumber() throws -> UInt64? {
        try Row.fetchOne(db, sql: "SELECT max(number) FROM batch")?.word(0)
    }

    private func decode(_ row: Row, expected: UInt64) throws -> JournalRow {
        guard let number = row.word(0), let epoch = row.word(1), let after = row.word(2),
            let sequence = row.word(3), let time = row.integer(4), let deltas = row.bytes(5),
            let facts = row.bytes(6), let chain = row.word(7)
        else { throw damage(expected, "six integers and two blobs", got: "something else") }
        return JournalRow(
            number: number, epoch: epoch, after: after, sequence: sequence, time: time,
            deltas: deltas, facts: facts, chain: chain)
    }

    private func damage(_ row: UInt64, _ expected: String, got: String) -> JournalError {
        .damage(JournalDamage(file: file, row: row, expected: expected, got: got))
    }

    private func named(_ error: JournalError, row: UInt64) -> JournalError {
        guard case .damage(var damage) = error, damage.row == nil else { return error }
        damage.row = row
        return .damage(damage)
    }
}
