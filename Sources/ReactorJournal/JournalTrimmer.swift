import GRDB
import ReactorThreads

/// Deletes rows that are not needed any more, verified before, a few at a time.
///
/// *Place*: at work on the upkeep's thread. Where a row is not what was written, nothing from it
/// on is deleted: a snapshot that stands for it may be needed to prove what it was.
struct JournalTrimmer {
    let database: JournalDatabase
    let directory: DataDirectory
    let gate: Lock
    let tuning: JournalTuning

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
            try gate.withLock { () throws(JournalError) in
                try directory.health.check()
                try database.commit("trimming", pageCount: Self.pagesMax) { db in
                    try db.execute(
                        sql: "DELETE FROM batch WHERE number <= ?",
                        arguments: [Column.word(next.number)])
                    let meta = MetaTable(db, in: file)
                    try meta.setFloorToEnd(of: instance)
                    try meta.set("anchor", to: next.words, behind: instance.seed)
                }
            }
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
            guard let last = try table.lastNumber(), let newest = try table.position(of: last)
            else { return anchor.number }
            guard retention.duration > .zero, retention.byteCount > 0 else {
                return max(min(number, last), anchor.number)
            }
            let oldest = newest.time.subtractingSaturated(retention.duration.milliseconds)
            let aged = try Row.fetchOne(
                db, sql: "SELECT number FROM batch WHERE time >= ? ORDER BY number LIMIT 1",
                arguments: [oldest])
            let old = aged?.word(0).map { $0 - 1 } ?? anchor.number
            let unwanted = max(old, try oversize(db, retention.byteCount, anchor))
            return max(min(number, last, unwanted), anchor.number)
        }
    }

    /// The last row that does not fit into `byteCount` together with those behind it.
    private func oversize(
        _ db: Database, _ byteCount: Int, _ anchor: JournalPosition
    ) throws -> UInt64 {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT number, length(deltas) + length(facts) FROM batch ORDER BY number DESC
                """)
        var rest = byteCount
        while let row = try rows.next() {
            guard let number = row.word(0), let size = row.integer(1) else { break }
            rest -= Int(size)
            if rest < 0 { return number }
        }
        return anchor.number
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

extension Int64 {
    fileprivate func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other > 0 ? .min : .max) : difference
    }
}
