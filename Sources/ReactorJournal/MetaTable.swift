import GRDB

/// A table of words by name, each entry with a checksum of its own.
///
/// *Shape*: a blob of words of 8 bytes, the lowest byte first; the last word is the checksum of
/// those before, seeded with that of the name and with the instance that they belong to.
struct MetaTable {
    let db: Database
    let file: String
    let table: String

    init(_ db: Database, in file: String, table: String = "meta") {
        self.db = db
        self.file = file
        self.table = table
    }

    /// The words under `key`; nil if there are none.
    func words(_ key: String, behind seed: UInt64 = 0) throws -> [UInt64]? {
        let sql = "SELECT value FROM \(table) WHERE key = ?"
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [key]) else { return nil }
        guard let bytes = row.bytes(0), bytes.count >= 8, bytes.count % 8 == 0 else {
            throw damage(key, "words and their checksum", got: "something else")
        }
        var words = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        }
        let got = words.removeLast()
        let expected = check(words, key, seed)
        guard got == expected else {
            throw damage(key, "checksum \(expected)", got: "\(got)")
        }
        return words
    }

    /// Puts `words` under `key`.
    func set(_ key: String, to words: [UInt64], behind seed: UInt64 = 0) throws {
        let bytes = (words + [check(words, key, seed)]).flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
        try db.execute(
            sql: "INSERT OR REPLACE INTO \(table)(key, value) VALUES(?, ?)",
            arguments: [key.databaseValue, Column.bytes(bytes[...])])
    }

    /// How it is being written, or was left.
    func mark() throws -> JournalMark {
        guard let words = try words(JournalMark.key) else { return .new }
        guard let mark = JournalMark(words: words) else {
            throw damage(JournalMark.key, "three or four words", got: "\(words)")
        }
        return mark
    }

    /// Notes how it is being written, or left.
    func setMark(_ mark: JournalMark) throws { try set(JournalMark.key, to: mark.words) }

    /// The row behind which a power cut may have taken others, which nobody has told of yet.
    func cut(at boot: BootID) throws -> UInt64? {
        let instance = try instance()
        let last = try BatchTable(db, in: file).lastNumber() ?? anchor(of: instance).number
        return try mark().mayHaveLostTail(behind: last, at: boot) ? last : nil
    }

    /// Which journal it belongs to.
    func instance() throws -> JournalInstance {
        guard let words = try words("instance"), let instance = JournalInstance(words: words)
        else { throw damage("instance", "three words", got: "none") }
        return instance
    }

    /// Where the first row that is kept stands.
    func anchor(of instance: JournalInstance) throws -> JournalPosition {
        guard let words = try words("anchor", behind: instance.seed),
            let position = JournalPosition(words: words)
        else { throw damage("anchor", "five words", got: "none") }
        return position
    }

    /// How far the wall clock has stepped.
    func clockSteps(of instance: JournalInstance) throws -> ClockSteps {
        guard let words = try words(ClockSteps.key, behind: instance.seed) else {
            return ClockSteps()
        }
        guard let steps = ClockSteps(words: words) else {
            throw damage(ClockSteps.key, "pairs of words", got: "\(words.count) words")
        }
        return steps
    }

    /// The row that was there when it was noted last, so that a missing tail is noticed; 0 if none
    /// was.
    func floor(of instance: JournalInstance) throws -> UInt64 {
        try words("floor", behind: instance.seed)?.first ?? 0
    }

    /// Notes that the last row of all is there.
    func setFloorToEnd(of instance: JournalInstance) throws {
        guard let last = try BatchTable(db, in: file).lastNumber() else { return }
        try setFloor(last, of: instance)
    }

    /// Notes that the row numbered `number` is there.
    func setFloor(_ number: UInt64, of instance: JournalInstance) throws {
        try set("floor", to: [number], behind: instance.seed)
    }

    private func check(_ words: [UInt64], _ key: String, _ seed: UInt64) -> UInt64 {
        Checksum.of(words, behind: Checksum.of(Array(key.utf8).span, behind: seed))
    }

    private func damage(_ key: String, _ expected: String, got: String) -> JournalError {
        .damage(
            JournalDamage(
                file: file, row: nil, expected: "\(expected) under '\(key)' in \(table)", got: got))
    }
}
