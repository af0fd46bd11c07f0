/// Reads the rows of a journal in order, and verifies each before it returns it.
///
///     let reader = try JournalReader(directory)
///     while let row = try reader.next() { replay(row) }
///
/// *Place*: recovery, resumption from disk, and queries about history. A commit that was cut off is
/// not a row: SQLite has dropped it. Any other deviation from the written content is an error that
/// names the row; nothing is skipped. *Owner*: one thread, also while another writes the journal.
///
/// *Cost*: memory for at most ``chunkRowsMax`` rows or ``chunkBytesMax`` bytes, and one row.
package final class JournalReader {
    /// The journal's identity.
    package let instance: JournalInstance
    /// The position of the first row in the journal.
    package let anchor: JournalPosition
    /// The position of the next row; all rows read before it are verified.
    package private(set) var position: JournalPosition
    /// Maximum number of rows per read, so that no read delays a checkpoint for long.
    static let chunkRowsMax = 256
    /// Maximum bytes of rows per read, except for a single larger row.
    static let chunkBytesMax = 1 << 20

    let database: JournalDatabase
    private let floor: UInt64
    private var rows: ArraySlice<JournalRow> = []
    private var failure: JournalError?

    /// Starts at the first row, or after `position`, which must agree with the journal.
    package convenience init(
        _ directory: DataDirectory, behind position: JournalPosition? = nil
    ) throws(JournalError) {
        try self.init(directory) { locator in
            guard let position else { return locator.anchor }
            let found = try locator.position(of: position.number)
            guard found == position else {
                throw JournalError.damage(
                    JournalDamage(
                        file: locator.table.file, row: position.number, expected: "\(position)",
                        got: "\(found)"))
            }
            return position
        }
    }

    /// Starts after row `number`.
    package convenience init(
        _ directory: DataDirectory, behind number: UInt64
    ) throws(JournalError) {
        try self.init(directory) { try $0.position(of: number) }
    }

    /// Starts at the row that contains the first transaction after `sequence`; after the last row
    /// if that transaction does not exist yet.
    ///
    /// *Throws*: ``JournalError/trimmed(file:upTo:)`` if the transaction has been trimmed, and
    /// ``JournalError/absent(file:epoch:sequence:)`` if the journal never contained `sequence`.
    /// *Cost*: reads the columns of a few dozen rows, however long the journal is.
    package convenience init(
        _ directory: DataDirectory, ofEpoch epoch: UInt64, after sequence: UInt64
    ) throws(JournalError) {
        try self.init(directory) { locator in
            let search = JournalSearch(
                table: locator.table, anchor: locator.anchor, last: try locator.lastNumber())
            return try locator.position(of: search.row(before: sequence, of: epoch))
        }
    }

    /// Starts after the position of a good snapshot of the journal `instance`; the row itself may
    /// be missing.
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
        _ directory: DataDirectory, from start: (RowLocator) throws -> JournalPosition
    ) throws(JournalError) {
        // The file is opened through SQLite only: closing another descriptor would release all
        // locks that the process has on it.
        let database = try JournalFile.reader(in: directory)
        let file = database.file
        (instance, anchor, position, floor) = try database.read("opening") { db in
            let locator = try RowLocator(db, in: file)
            let floor = try MetaTable(db, in: file).floor(of: locator.instance)
            return (locator.instance, locator.anchor, try start(locator), floor)
        }
        self.database = database
    }

    /// Returns the next row; nil after the last.
    ///
    /// *Throws*: ``JournalError/damage(_:)`` at the first damaged row, and at every later call;
    /// ``JournalError/trimmed(file:upTo:)`` if the next row has been trimmed in the meantime.
    package func next() throws(JournalError) -> JournalRow? {
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

    /// Verifies all remaining rows; returns the position after the last.
    @discardableResult
    package func verifyRest(
        isCancelled: () -> Bool = { false }
    ) throws(JournalError) -> JournalPosition {
        while try next() != nil {
            if isCancelled() { throw .cancelled(database.file) }
        }
        return position
    }

    // The chain of checksums does not mark its own end.
    private func checkEnd() throws(JournalError) {
        guard position.number < floor else { return }
        throw .damage(
            JournalDamage(
                file: database.file, row: position.number + 1,
                expected: "rows up to \(floor), which existed", got: "the end"))
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
        // The rows before the damaged one are valid.
        failure = found.damage
    }

    // Rows that were trimmed in the meantime are not damage.
    private func checkKept(_ db: SQLiteConnection) throws {
        let meta = MetaTable(db, in: database.file)
        guard let anchor = try? meta.anchor(of: instance), anchor.number > position.number else {
            return
        }
        throw JournalError.trimmed(file: database.file, upTo: anchor.number)
    }
}
