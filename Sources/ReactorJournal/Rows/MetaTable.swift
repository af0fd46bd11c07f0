/// A table of named lists of words, each with a checksum.
///
/// *Shape*: a blob of words of 8 bytes, lowest byte first; the last word is the checksum of the
/// others, seeded with the checksum of the name and the journal's instance.
struct MetaTable {
    let db: SQLiteConnection
    let file: String
    let table: String

    init(_ db: SQLiteConnection, in file: String, table: String = "meta") {
        self.db = db
        self.file = file
        self.table = table
    }

    /// Returns the words under `key`; nil if there are none.
    func words(_ key: String, behind seed: UInt64 = 0) throws -> [UInt64]? {
        let select = try db.statement("SELECT value FROM \(table) WHERE key = ?")
        defer { select.end() }
        try select.bind([.text(key)])
        guard try select.step() else { return nil }
        guard let bytes = select.bytes(0), bytes.count >= 8, bytes.count % 8 == 0 else {
            throw damage(key, "words and their checksum", got: "something else")
        }
        var words = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        }
        let got = words.removeLast()
        let expected = checksum(words, key, seed)
        guard got == expected else {
            throw damage(key, "checksum \(expected)", got: "\(got)")
        }
        return words
    }

    /// Stores `words` under `key`.
    func set(_ key: String, to words: [UInt64], behind seed: UInt64 = 0) throws {
        let bytes = (words + [checksum(words, key, seed)]).flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
        let insert = try db.statement("INSERT OR REPLACE INTO \(table)(key, value) VALUES(?, ?)")
        try insert.bind([.text(key)])
        try insert.run(bytes.span, at: 2)
    }

    /// Returns the record of how the journal is or was being written.
    func mark() throws -> JournalMark {
        guard let words = try words(JournalMark.key) else { return .new }
        guard let mark = JournalMark(words: words) else {
            throw damage(JournalMark.key, "three or four words", got: "\(words)")
        }
        return mark
    }

    /// Stores the record of how the journal is being written.
    func setMark(_ mark: JournalMark) throws { try set(JournalMark.key, to: mark.words) }

    /// Returns the last row if a power cut may have taken rows after it and none was appended
    /// since.
    func cut(at boot: BootID) throws -> UInt64? {
        let instance = try instance()
        let last = try BatchTable(db, in: file).lastNumber() ?? anchor(of: instance).number
        return try mark().mayHaveLostTail(behind: last, at: boot) ? last : nil
    }

    /// The journal's identity.
    func instance() throws -> JournalInstance {
        guard let words = try words("instance"), let instance = JournalInstance(words: words)
        else { throw damage("instance", "three words", got: "none") }
        return instance
    }

    /// The position of the first row.
    func anchor(of instance: JournalInstance) throws -> JournalPosition {
        guard let words = try words("anchor", behind: instance.seed),
            let position = JournalPosition(words: words)
        else { throw damage("anchor", "five words", got: "none") }
        return position
    }

    /// The steps of the wall clock.
    func clockSteps(of instance: JournalInstance) throws -> ClockSteps {
        guard let words = try words(ClockSteps.key, behind: instance.seed) else {
            return ClockSteps()
        }
        guard let steps = ClockSteps(words: words) else {
            throw damage(ClockSteps.key, "pairs of words", got: "\(words.count) words")
        }
        return steps
    }

    /// The words that a log outside the journal stored with the last rows from it; nil if there are
    /// none. Their meaning is that log's.
    func logWords(of instance: JournalInstance) throws -> [UInt64]? {
        try words("cluster", behind: instance.seed)
    }

    /// Stores the words of a log outside the journal.
    func setLogWords(_ words: [UInt64], of instance: JournalInstance) throws {
        try set("cluster", to: words, behind: instance.seed)
    }

    /// Removes the words of a log outside the journal.
    func removeLogWords() throws {
        try db.run("DELETE FROM \(table) WHERE key = ?", [.text("cluster")])
    }

    /// The row that existed when the floor was last set, so that a missing tail is detected; 0 if
    /// never set.
    func floor(of instance: JournalInstance) throws -> UInt64 {
        try words("floor", behind: instance.seed)?.first ?? 0
    }

    /// Sets the floor to the last row.
    func setFloorToEnd(of instance: JournalInstance) throws {
        guard let last = try BatchTable(db, in: file).lastNumber() else { return }
        try setFloor(last, of: instance)
    }

    /// Sets the floor to row `number`.
    func setFloor(_ number: UInt64, of instance: JournalInstance) throws {
        try set("floor", to: [number], behind: instance.seed)
    }

    private func checksum(_ words: [UInt64], _ key: String, _ seed: UInt64) -> UInt64 {
        Checksum.of(words, behind: Checksum.of(Array(key.utf8).span, behind: seed))
    }

    private func damage(_ key: String, _ expected: String, got: String) -> JournalError {
        .damage(
            JournalDamage(
                file: file, row: nil, expected: "\(expected) under '\(key)' in \(table)", got: got))
    }
}
