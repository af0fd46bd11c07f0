/// The format of a journal or snapshot file, read from its first bytes without SQLite.
///
/// *Place*: read before SQLite opens the file, since SQLite may write to it on opening.
///
/// *Shape*: SQLite's file header of 100 bytes, big-endian: a text of 16 bytes, the user version at
/// 60 (our format's number), the application id at 68.
struct JournalFormat: Equatable {
    /// The format of files that this program writes.
    static var current: Int { JournalSchema.format }

    /// The number of the format.
    var format: Int
    /// The program that the file belongs to.
    var applicationID: Int32

    /// Reads the header of the file `name`.
    init(of name: String, in directory: DataDirectory) throws(JournalError) {
        let head = try directory.read(name, at: 0, count: 100)
        let file = directory.path(name)
        guard head.count == 100 else {
            throw .damage(
                JournalDamage(
                    file: file, row: nil, expected: "a header of 100 bytes",
                    got: "\(head.count) bytes"))
        }
        guard head.starts(with: "SQLite format 3\0".utf8) else {
            throw .damage(
                JournalDamage(
                    file: file, row: nil, expected: "SQLite's header", got: "other bytes"))
        }
        format = Int(Int32(bitPattern: Self.word(head, at: 60)))
        applicationID = Int32(bitPattern: Self.word(head, at: 68))
    }

    /// Reads the format through a connection, whose log may be newer than the file's first page.
    init(_ db: SQLiteConnection) throws {
        format = Int(try db.integer("PRAGMA user_version") ?? 0)
        applicationID = Int32(
            truncatingIfNeeded: try db.integer("PRAGMA application_id") ?? 0)
    }

    /// Throws if the file belongs to another program or has a newer format.
    func require(_ id: Int32, file: String) throws(JournalError) {
        guard applicationID == id else {
            throw .foreign(file: file, found: "its application id is \(applicationID)")
        }
        guard format <= Self.current else {
            throw .newerFormat(file: file, format: format, known: Self.current)
        }
        guard format > 0 else {
            throw .damage(
                JournalDamage(
                    file: file, row: nil, expected: "a format of at least 1", got: "\(format)"))
        }
    }

    private static func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
