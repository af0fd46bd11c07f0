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

    let database: JournalDatabase
    private let floor: UInt64
    private var rows: ArraySlice<JournalRow> = []
    private var failure: JournalError?

    /// Starts at the first row that is kept, or behind `position`, which a row or the anchor must
    /// say as well.
    public convenience init(
        _ directory: DataDirectory, behind position: JournalPosition? = nil
    ) throws(JournalError) {
        try self.init(directory) { place in
            guard let position else { return place.anchor }
            let found = try place.position(of: position.number)
            guard found == position else {
                throw JournalError.damage(
                    JournalDamage(
                        file: place.table.file, row: position.number, expected: "\(position)",
                        got: "\(found)"))
            }
            return position
        }
    }

    /// Starts behind the row numbered `number`, by what that row says of itself.
    public convenience init(
        _ directory: DataDirectory, behind number: UInt64
    ) throws(JournalError) {
        try self.init(directory) { try $0.position(of: number) }
    }

    /// Starts at the row that holds the first transaction behind `sequence`, behind the last row if
    /// there is none yet.
    ///
    /// *Throws*: ``JournalError/trimmed(file:upTo:)`` where that transaction is gone, and
    /// ``JournalError/absent(file:epoch:sequence:)`` where the journal never knew `sequence`.
    /// *Cost*: reads a few dozen rows' numbers; no more for a longer journal.
    public convenience init(
        _ directory: DataDirectory, ofEpoch epoch: UInt64, after sequence: UInt64
    ) throws(JournalError) {
        try self.init(directory) { place in
            let last = try place.table.lastNumber() ?? place.anchor.number
            let search = JournalSearch(table: place.table, anchor: place.anchor, last: last)
            return try place.position(of: search.row(before: sequence, of: epoch))
        }
    }

    /// Starts behind `position`, which a whole snapshot of the journal `instance` has named, though
    /// the row may be gone.
    init(
        _ directory: DataDirectory, behindSnapshot position: JournalPosition,
        of instance: JournalInstance
    ) throws(JournalError) {
        database = try JournalFile.reader(in: directory)
        self.instance = instance
        self.position = position
        anchor = position
        floor = 0
    }

    private init(
        _ directory: DataDirectory, from start: (JournalPlace) throws -> JournalPosition
    ) throws(JournalError) {
        // because the file is not opened by other means than SQLite's here: closing it would let
        // go of all locks that the process has on it
        let database = try JournalFile.reader(in: directory)
        let file = database.file
        (instance, anchor, position, floor) = try database.read("opening") { db in
            let meta = MetaTable(db, in: file)
            let instance = try meta.instance()
            let anchor = try meta.anchor(of: instance)
            let place = JournalPlace(
                table: BatchTable(db, in: file), instance: instance, anchor: anchor)
            return (instance, anchor, try start(place), try meta.floor(of: instance))
        }
        self.database = database
    }

    /// The next row; nil behind the last.
    ///
    /// *Throws*: ``JournalError/damage(_:)`` at the first row that is not what was written, and
    /// then again whenever it is asked; ``JournalError/trimmed(file:upTo:)`` where the next row has
    /// been trimmed since.
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
    public func verifyRest(
        isCancelled: () -> Bool = { false }
    ) throws(JournalError) -> JournalPosition {
        while try next() != nil {
            if isCancelled() { throw .cancelled(database.file) }
        }
        return position
    }

    static func position(
        _ number: UInt64, anchor: JournalPosition, _ db: Database, _ file: String
    ) throws -> JournalPosition {
        if number == anchor.number { return anchor }
        guard number > anchor.number else {
            throw JournalError.trimmed(file: file, upTo: anchor.number)
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
        let found = try database.read("reading") { db in
            let found = try BatchTable(db, in: database.file).rows(
                behind: position.number, rowsMax: Self.chunkRowsMax,
                bytesMax: Self.chunkBytesMax)
            if found.rows.first?.number != position.number + 1 { try checkKept(db) }
            return found
        }
        rows = found.rows[...]
        // because the rows before the bad one are good
        failure = found.damage
    }

    // because what was trimmed since is gone by right
    private func checkKept(_ db: Database) throws {
        let meta = MetaTable(db, in: database.file)
        guard let anchor = try? meta.anchor(of: instance), anchor.number > position.number else {
            return
        }
        throw JournalError.trimmed(file: database.file, upTo: anchor.number)
    }
}
