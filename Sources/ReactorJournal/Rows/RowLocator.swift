/// Returns the positions of a journal's rows, over one connection.
struct RowLocator {
    let table: BatchTable
    let instance: JournalInstance
    /// The position of the first row.
    let anchor: JournalPosition

    init(_ db: SQLiteConnection, in file: String) throws {
        let meta = MetaTable(db, in: file)
        table = BatchTable(db, in: file)
        instance = try meta.instance()
        anchor = try meta.anchor(of: instance)
    }

    /// The number of the last row; of the row before the anchor without rows.
    func lastNumber() throws -> UInt64 { try table.lastNumber() ?? anchor.number }

    /// Returns the position after row `number`.
    ///
    /// *Throws*: ``JournalError/trimmed(file:upTo:)``, or ``JournalError/damage(_:)`` if the row
    /// does not exist.
    func position(of number: UInt64) throws -> JournalPosition {
        if number == anchor.number { return anchor }
        guard number > anchor.number else {
            throw JournalError.trimmed(file: table.file, upTo: anchor.number)
        }
        guard let position = try table.position(of: number) else {
            throw JournalError.damage(
                JournalDamage(
                    file: table.file, row: number, expected: "a row that was committed",
                    got: "a journal that ends with row \(try lastNumber())"))
        }
        return position
    }
}
