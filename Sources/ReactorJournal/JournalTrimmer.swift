import GRDB

/// Deletes rows that are not needed any more, verified before, a few at a time.
///
/// *Place*: at work on the upkeep's thread. Where a row is not what was written, nothing from it
/// on is deleted: a snapshot that stands for it may be needed to prove what it was.
struct JournalTrimmer {
    let database: JournalDatabase
    let directory: DataDirectory
    let gate: JournalGate
    let tuning: JournalTuning
    /// How far rows fit into what is kept, from one trim to the next.
    var scan = RetentionScan()

    /// Deletes rows up to the one numbered `number`, but for what `retention` keeps; ends early
    /// when `goesOn`, asked behind each few, says no.
    func trim(
        behind number: UInt64, keeping retention: JournalRetention, while goesOn: () -> Bool
    ) throws(JournalError) -> JournalTrim {
        let file = database.file
        var (instance, anchor) = try database.run("trimming") { db in
            let meta = MetaTable(db, in: file)
            let instance = try meta.instance()
            return (instance, try meta.anchor(of: instance))
        }
        let end = try limit(number, anchor, retention)
        var count = 0
        var isRunning = true
        while isRunning, anchor.number < end {
            let next = try verify(behind: anchor, upTo: end)
            // because commits wait meanwhile, it is a few rows at a time
            let byteCount = try gate.upkeep { () throws(JournalError) -> Int in
                try directory.health.check()
                return try database.commit("trimming", pageCount: Self.pagesMax) { db in
                    let byteCount = try scan.byteCount(db, upTo: next.number)
                    try db.execute(
                        sql: "DELETE FROM batch WHERE number <= ?",
                        arguments: [Column.word(next.number)])
                    let meta = MetaTable(db, in: file)
                    try meta.setFloorToEnd(of: instance)
                    try meta.set("anchor", to: next.words, behind: instance.seed)
                    return byteCount
                }
            }
            scan.forget(upTo: next.number, byteCount: byteCount)
            count += Int(next.number - anchor.number)
            anchor = next
            isRunning = goesOn()
        }
        return JournalTrim(rowCount: count, anchor: anchor)
    }

    /// Most pages that one transaction writes, those of deleted blobs being merely let go.
    private static let pagesMax = 2_048

    private func verify(
        behind anchor: JournalPosition, upTo end: UInt64
    ) throws(JournalError) -> JournalPosition {
        let most = min(UInt64(tuning.trimmedRowsMax), end - anchor.number)
        let found = try database.run("trimming") { db in
            try BatchTable(db, in: database.file).rows(
                behind: anchor.number, rowsMax: Int(most),
                bytesMax: JournalReader.chunkBytesMax)
        }
        var position = anchor
        for row in found.rows {
            try row.verify(behind: position, in: database.file)
            position = row.position
        }
        if let damage = found.damage { throw damage }
        guard position.number > anchor.number else {
            throw .damage(
                JournalDamage(
                    file: database.file, row: anchor.number + 1, expected: "a row to trim",
                    got: "none"))
        }
        return position
    }

    /// The number of the last row that may go.
    private func limit(
        _ number: UInt64, _ anchor: JournalPosition, _ retention: JournalRetention
    ) throws(JournalError) -> UInt64 {
        try database.run("trimming") { db in
            let table = BatchTable(db, in: database.file)
            let meta = MetaTable(db, in: database.file)
            let steps = try meta.clockSteps(of: meta.instance())
            guard let last = try table.lastNumber(), let newest = try table.position(of: last)
            else { return anchor.number }
            guard retention.duration > .zero, retention.byteCount > 0 else {
                return max(min(number, last), anchor.number)
            }
            let old = try aged(newest, anchor, retention, steps, table)
            let unwanted = max(old, try scan.edge(db, retention.byteCount, behind: anchor.number))
            return max(min(number, last, unwanted), anchor.number)
        }
    }

    /// The last row that is too old. Rows stand in the order of a clock that never steps.
    private func aged(
        _ newest: JournalPosition, _ anchor: JournalPosition, _ retention: JournalRetention,
        _ steps: ClockSteps, _ table: BatchTable
    ) throws -> UInt64 {
        let oldest = steps.steady(newest.time, of: newest.number).subtractingSaturated(
            retention.duration.milliseconds)
        var (low, high) = (anchor.number, newest.number)
        while low < high {
            let middle = low + (high - low) / 2 + 1
            let time = try table.position(of: middle)?.time ?? .min
            if steps.steady(time, of: middle) < oldest { low = middle } else { high = middle - 1 }
        }
        return low
    }
}

/// Finds the last row that does not fit into what is kept together with those behind it.
///
/// *Owner*: one thread. *Cost*: the first time, a look at every row that is kept; from then on, at
/// those that came since and those that no longer fit.
final class RetentionScan {
    /// Most bytes that are kept.
    private var byteCountMax = 0
    /// The last row that does not fit.
    private var edge: UInt64 = 0
    /// The last row that was looked at.
    private var last: UInt64?
    /// Bytes of the rows between the two.
    private var byteCount = 0

    /// The last row that does not fit into `byteCountMax`; at least `anchor`.
    func edge(
        _ db: Database, _ byteCountMax: Int, behind anchor: UInt64
    ) throws -> UInt64 {
        if last == nil || self.byteCountMax != byteCountMax {
            try begin(db, byteCountMax, behind: anchor)
        } else {
            try goOn(db)
        }
        return max(edge, anchor)
    }

    /// Bytes of the rows up to one that are counted among those that fit.
    func byteCount(_ db: Database, upTo number: UInt64) throws -> Int {
        guard let last, number > edge else { return 0 }
        let sum = try Int.fetchOne(
            db,
            sql: """
                SELECT sum(length(deltas) + length(facts)) FROM batch
                WHERE number > ? AND number <= ?
                """,
            arguments: [Column.word(edge), Column.word(min(number, last))])
        return sum ?? 0
    }

    /// Takes note that the rows up to one are gone, of which so many bytes were counted.
    func forget(upTo number: UInt64, byteCount: Int) {
        guard let last, number > edge else { return }
        self.byteCount -= byteCount
        edge = number
        self.last = max(last, number)
    }

    private func begin(_ db: Database, _ byteCountMax: Int, behind anchor: UInt64) throws {
        self.byteCountMax = byteCountMax
        (edge, last, byteCount) = (anchor, anchor, 0)
        var rows = Self.rows(of: try Self.cursor(db, "ORDER BY number DESC"))
        var isFirst = true
        while let row = try rows.next() {
            if isFirst { last = row.number }
            isFirst = false
            guard byteCount + row.byteCount <= byteCountMax else {
                edge = row.number
                return
            }
            byteCount += row.byteCount
        }
    }

    private func goOn(_ db: Database) throws {
        var new = Self.rows(of: try Self.cursor(db, "WHERE number > ? ORDER BY number", last ?? 0))
        while let row = try new.next() {
            last = row.number
            byteCount += row.byteCount
        }
        guard byteCount > byteCountMax else { return }
        var old = Self.rows(of: try Self.cursor(db, "WHERE number > ? ORDER BY number", edge))
        while byteCount > byteCountMax, let row = try old.next() {
            edge = row.number
            byteCount -= row.byteCount
        }
    }

    private static func cursor(
        _ db: Database, _ condition: String, _ number: UInt64? = nil
    ) throws -> RowCursor {
        try Row.fetchCursor(
            db, sql: "SELECT number, length(deltas) + length(facts) FROM batch " + condition,
            arguments: number.map { [Column.word($0)] } ?? [])
    }

    private static func rows(of cursor: RowCursor) -> SizedRows { SizedRows(cursor: cursor) }

    /// Numbers and sizes of rows, up to the first that is not what was written.
    private struct SizedRows {
        let cursor: RowCursor

        mutating func next() throws -> (number: UInt64, byteCount: Int)? {
            guard let row = try cursor.next(), let number = row.word(0), let size = row.integer(1)
            else { return nil }
            return (number, Int(size))
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        let (whole, overflows) = components.seconds.multipliedReportingOverflow(by: 1_000)
        let (sum, overflowsToo) = whole.addingReportingOverflow(
            components.attoseconds / 1_000_000_000_000_000)
        return overflows || overflowsToo ? .max : sum
    }
}
