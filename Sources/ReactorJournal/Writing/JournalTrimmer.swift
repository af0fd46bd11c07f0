/// Deletes old rows after verifying them, a few at a time.
///
/// *Place*: on the upkeep's thread. At a damaged row, trimming stops: the snapshot that covers it
/// may be needed to restore its content.
struct JournalTrimmer {
    let database: JournalDatabase
    let directory: DataDirectory
    let gate: JournalGate
    let tuning: JournalTuning
    /// Whether the log is made durable before each transaction.
    let synchronizesLog: Bool
    /// The result of the last retention scan, continued by the next.
    var scan = RetentionScan()

    /// Deletes rows up to row `number`, except those that `retention` keeps. After every few rows,
    /// calls `goesOn` with the bytes that they had in the file, and ends early if that returns
    /// false.
    func trim(
        behind number: UInt64, keeping retention: JournalRetention,
        while goesOn: (_ deletedByteCount: Int) -> Bool
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
            if synchronizesLog { try directory.synchronize(JournalFile.logName) }
            // A few rows at a time, since commits wait for each transaction.
            let (byteCount, deleted) = try gate.upkeep { () throws(JournalError) -> (Int, Int) in
                try directory.health.check()
                return try database.commit("trimming", pageCount: Self.pagesMax) { db in
                    let byteCount = try scan.byteCount(db, upTo: next.number)
                    let deleted = try RetentionScan.byteCount(
                        db, behind: anchor.number, upTo: next.number)
                    try db.run("DELETE FROM batch WHERE number <= ?", [.word(next.number)])
                    let meta = MetaTable(db, in: file)
                    try meta.setFloorToEnd(of: instance)
                    try meta.set("anchor", to: next.words, behind: instance.seed)
                    return (byteCount, deleted)
                }
            }
            scan.forget(upTo: next.number, byteCount: byteCount)
            count += Int(next.number - anchor.number)
            anchor = next
            isRunning = goesOn(deleted)
        }
        return JournalTrim(rowCount: count, anchor: anchor)
    }

    /// Maximum number of pages that one transaction writes; the pages of deleted blobs are only
    /// released.
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

    /// Returns the number of the last row that may be deleted.
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

    /// Returns the last row that is too old. Row times are in order on the clock that never steps.
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

/// Finds the last row that, together with all later rows, exceeds the retention's bytes.
///
/// *Owner*: one thread. *Cost*: the first call visits every row; later calls only the new rows and
/// those that no longer fit.
final class RetentionScan {
    /// Maximum bytes of kept rows.
    private var byteCountMax = 0
    /// The last row that does not fit.
    private var edge: UInt64 = 0
    /// The last row visited.
    private var last: UInt64?
    /// Bytes of the rows after ``edge``, up to ``last``.
    private var byteCount = 0

    /// Returns the last row that does not fit into `byteCountMax`; at least `anchor`.
    func edge(
        _ db: SQLiteConnection, _ byteCountMax: Int, behind anchor: UInt64
    ) throws -> UInt64 {
        if last == nil || self.byteCountMax != byteCountMax {
            try begin(db, byteCountMax, behind: anchor)
        } else {
            try goOn(db)
        }
        return max(edge, anchor)
    }

    /// Returns the bytes of those rows up to `number` that are counted in ``byteCount``.
    func byteCount(_ db: SQLiteConnection, upTo number: UInt64) throws -> Int {
        guard let last, number > edge else { return 0 }
        return try Self.byteCount(db, behind: edge, upTo: min(number, last))
    }

    /// Returns the bytes in the file of the rows after `first`, up to `last`.
    static func byteCount(
        _ db: SQLiteConnection, behind first: UInt64, upTo last: UInt64
    ) throws -> Int {
        let sum = try db.integer(
            """
            SELECT sum(length(deltas) + length(facts)) FROM batch
            WHERE number > ? AND number <= ?
            """, [.word(first), .word(last)])
        return Int(sum ?? 0)
    }

    /// Records that the rows up to `number` were deleted, of which `byteCount` bytes were counted.
    func forget(upTo number: UInt64, byteCount: Int) {
        guard let last, number > edge else { return }
        self.byteCount -= byteCount
        edge = number
        self.last = max(last, number)
    }

    private func begin(
        _ db: SQLiteConnection, _ byteCountMax: Int, behind anchor: UInt64
    ) throws {
        self.byteCountMax = byteCountMax
        (edge, last, byteCount) = (anchor, anchor, 0)
        var isFirst = true
        try Self.visit(db, "ORDER BY number DESC") { (number, size) in
            if isFirst { last = number }
            isFirst = false
            guard byteCount + size <= byteCountMax else {
                edge = number
                return false
            }
            byteCount += size
            return true
        }
    }

    private func goOn(_ db: SQLiteConnection) throws {
        try Self.visit(db, "WHERE number > ? ORDER BY number", last ?? 0) { (number, size) in
            last = number
            byteCount += size
            return true
        }
        guard byteCount > byteCountMax else { return }
        try Self.visit(db, "WHERE number > ? ORDER BY number", edge) { (number, size) in
            edge = number
            byteCount -= size
            return byteCount > byteCountMax
        }
    }

    /// Calls `body` with the number and size of each row, until it returns false or at a damaged
    /// row.
    private static func visit(
        _ db: SQLiteConnection, _ condition: String, _ number: UInt64? = nil,
        _ body: (_ number: UInt64, _ byteCount: Int) -> Bool
    ) throws {
        let select = try db.statement(
            "SELECT number, length(deltas) + length(facts) FROM batch " + condition)
        defer { select.end() }
        if let number { select.bind(number, at: 1) }
        while try select.step(), let number = select.word(0), let size = select.integer(1),
            body(number, Int(size))
        {}
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
