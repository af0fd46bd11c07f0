/// The table of a journal's rows, over one connection.
struct BatchTable {
    let db: SQLiteConnection
    let file: String

    init(_ db: SQLiteConnection, in file: String) {
        self.db = db
        self.file = file
    }

    private static let columns =
        "number, epoch, after, sequence, time, deltas, facts, chain, deltaBytes, factBytes"
    private static let insertion =
        "INSERT INTO batch(\(columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    /// Appends a row after the existing rows.
    func append(_ row: StoredRow) throws {
        let insert = try db.statement(Self.insertion)
        insert.bind(row.position.number, at: 1)
        insert.bind(row.position.epoch, at: 2)
        insert.bind(row.after, at: 3)
        insert.bind(row.position.sequence, at: 4)
        insert.bind(UInt64(bitPattern: row.position.time), at: 5)
        insert.bind(row.position.chain, at: 8)
        if let byteCount = row.deltas.unpackedByteCount { insert.bind(byteCount, at: 9) }
        if let byteCount = row.facts.unpackedByteCount { insert.bind(byteCount, at: 10) }
        try insert.run(
            row.deltas.bytes.span.extracting(row.deltas.range), at: 6,
            row.facts.bytes.span.extracting(row.facts.range), at: 7)
    }

    /// Returns the rows after row `number`, in order: at least one if any exists, then as many as
    /// fit into `rowsMax` and `bytesMax`.
    func rows(
        behind number: UInt64, rowsMax: Int, bytesMax: Int
    ) throws -> (rows: [JournalRow], damage: JournalError?) {
        var rows: [JournalRow] = []
        var bytes = 0
        do {
            let select = try db.statement(
                "SELECT \(Self.columns) FROM batch WHERE number > ? ORDER BY number")
            defer { select.end() }
            select.bind(number, at: 1)
            while rows.count < rowsMax, bytes < bytesMax, try select.step() {
                let row = try decode(select, expected: number + UInt64(rows.count) + 1)
                bytes += row.deltas.count + row.facts.count
                rows.append(row)
            }
        } catch {
            let failure = JournalDatabase.failure(error, "reading", file, systemCode: db.fileCode)
            return (rows, named(failure, row: number + UInt64(rows.count) + 1))
        }
        return (rows, nil)
    }

    /// Returns the position after row `number`, from the row's own columns; nil if the row does not
    /// exist.
    func position(of number: UInt64) throws -> JournalPosition? {
        let select = try db.statement(
            "SELECT number, epoch, sequence, time, chain FROM batch WHERE number = ?")
        defer { select.end() }
        select.bind(number, at: 1)
        guard try select.step() else { return nil }
        guard let position = JournalPosition(words: (0..<5).compactMap { select.word($0) }) else {
            throw damage(number, "integers", got: "something else")
        }
        return position
    }

    /// Returns the epoch and the range of sequences of row `number`, from the row's own columns.
    func transactions(
        of number: UInt64
    ) throws -> (epoch: UInt64, after: UInt64, sequence: UInt64) {
        let select = try db.statement(
            "SELECT epoch, after, sequence FROM batch WHERE number = ?")
        defer { select.end() }
        select.bind(number, at: 1)
        guard try select.step() else {
            throw damage(number, "row \(number)", got: "none")
        }
        guard let epoch = select.word(0), let after = select.word(1),
            let sequence = select.word(2)
        else { throw damage(number, "integers", got: "something else") }
        return (epoch, after, sequence)
    }

    /// Returns the highest row number; nil if there are no rows.
    func lastNumber() throws -> UInt64? {
        let select = try db.statement("SELECT max(number) FROM batch")
        defer { select.end() }
        return try select.step() ? select.word(0) : nil
    }

    private func decode(
        _ select: SQLiteStatement, expected: UInt64
    ) throws -> JournalRow {
        guard let number = select.word(0), let epoch = select.word(1),
            let after = select.word(2), let sequence = select.word(3), let time = select.word(4),
            let deltas = select.bytes(5), let facts = select.bytes(6), let chain = select.word(7)
        else { throw damage(expected, "six integers and two blobs", got: "something else") }
        return JournalRow(
            number: number, epoch: epoch, after: after, sequence: sequence,
            time: Int64(bitPattern: time),
            deltas: try unpack(deltas, select.word(8), of: expected),
            facts: try unpack(facts, select.word(9), of: expected), chain: chain)
    }

    private func unpack(_ bytes: [UInt8], _ byteCount: UInt64?, of row: UInt64) throws -> [UInt8] {
        guard let byteCount else { return bytes }
        guard let unpacked = Packing.unpack(bytes, byteCount: byteCount) else {
            throw damage(row, "\(byteCount) bytes, packed", got: "something else")
        }
        return unpacked
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
