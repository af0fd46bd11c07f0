import GRDB

/// Reads the rows of a journal in order, each verified before it is handed out.
///
///     let reader = try JournalReader(directory)
///     while let row = try reader.next() { replay(row) }
///
/// *Place*: recovery, resume from disk, and whoever looks at history. A commit that was cut off is
/// no row: SQLite has dropped it. Anything else that is not what was written is an error that
/// names the row; nothing is skipped. *Owner*: one thread. It may read while a journal is written.
///
/// *Cost*: memory for at most ``chunkRowsMax`` rows or ``chunkBytesMax`` bytes, and one row.
public final class JournalReader {
    /// Which journal it is.
    public let instance: JournalInstance
    /// Where the first row that is kept stands.
    public let anchor: JournalPosition
    /// Where the next row stands: all before it that was read is verified.
    public private(set) var position: JournalPosition
    /// Most rows that are fetched at a time, so that no read holds up a checkpoint for long.
    static let chunkRowsMax = 256
    /// Most bytes of rows that are fetched at a time, but for one row of any size.
    static let chunkBytesMax = 1 << 20

    private let database: JournalDatabase
    private let floor: UInt64
    private var rows: ArraySlice<JournalRow> = []
    private var failure: JournalError?

    /// Starts at the first row that is kept, or behind `position`, which a row or the anchor must
    /// say as well.
    public convenience init(
        _ directory: DataDirectory, behind position: JournalPosition? = nil
    ) throws(JournalError) {
        try self.init(directory) {
            position ?? $0
        } at: {
            position?.number ?? $0.number
        }
    }

    /// Starts behind the row numbered `number`, by what that row says of itself.
    public convenience init(
        _ directory: DataDirectory, behind number: UInt64
    ) throws(JournalError) {
        try self.init(directory) { _ in
            nil
        } at: { _ in
            number
        }
    }

    private init(
        _ directory: DataDirectory, expecting: (JournalPosition) -> JournalPosition?,
        at number: (JournalPosition) -> UInt64
    ) throws(JournalError) {
        try JournalFile.check(in: directory)
        let database = try JournalFile.reader(in: directory)
        let file = database.file
        (instance, anchor, position, floor) = try database.run("opening") { db in
            let meta = MetaTable(db, in: file)
            let instance = try meta.instance()
            let anchor = try meta.anchor(of: instance)
            let number = number(anchor)
            let found = try Self.position(number, anchor: anchor, db, file)
            if let expected = expecting(anchor), expected != found {
                throw JournalError.damage(
                    JournalDamage(
                        file: file, row: number, expected: "\(expected)", got: "\(found)"))
            }
            return (instance, anchor, found, try meta.floor(of: instance))
        }
        self.database = database
    }

    /// The next row; nil behind the last.
    ///
    /// *Throws*: ``JournalError/damage(_:)`` at the first row that is not what was written, and
    /// then again whenever it is asked.
    public func next() throws(JournalError) -> JournalRow? {
        if rows.isEmpty {
            if let failure { throw failure }
            try fetch()
        }
        guard let row = rows.popFirst() else {
            if let failure { throw failure }
            try checkEnd()
            return nil
        }
        do throws(JournalError) { try row.verify(behind: position, in: database.file) } catch {
            rows = []
            failure = error
            throw error
        }
        position = row.position
        return row
    }

    /// Verifies all rows that are left, and answers where the next one will stand.
    @discardableResult
    public func verifyRest() throws(JournalError) -> JournalPosition {
        while try next() != nil {}
        return position
    }

    static func position(
        _ number: UInt64, anchor: JournalPosition, _ db: Database, _ file: String
    ) throws -> JournalPosition {
        if number == anchor.number { return anchor }
        guard number > anchor.number else {
            throw JournalError.damage(
                JournalDamage(
                    file: file, row: number, expected: "a row that is kept",
                    got: "a journal that was trimmed up to row \(anchor.number)"))
        }
        let table = BatchTable(db, in: file)
        guard let position = try table.position(of: number) else {
            let last = try table.lastNumber() ?? anchor.number
            throw JournalError.damage(
                JournalDamage(
                    file: file, row: number, expected: "a row that was committed",
                    got: "a journal that ends with row \(last)"))
        }
        return position
    }

    // because a chain does not tell where it should have ended
    private func checkEnd() throws(JournalError) {
        guard position.number < floor else { return }
        throw .damage(
            JournalDamage(
                file: database.file, row: position.number + 1,
                expected: "rows up to \(floor), which was there", got: "the end"))
    }

    private func fetch() throws(JournalError) {
        let found = try database.run("reading") { db in
            try BatchTable(db, in: database.file).rows(
                behind: position.number, rowsMax: Self.chunkRowsMax,
                bytesMax: Self.chunkBytesMax)
        }
        rows = found.rows[...]
        // because the rows before the bad one are good
        failure = found.damage
    }
}
