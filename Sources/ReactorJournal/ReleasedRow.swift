import ReactorBytes

/// The last row whose outputs may have left, as it is noted beside the journal.
///
/// *Place*: the committer writes it behind each commit and before the turn's outputs leave; a start
/// compares it with the journal's end. A log that was cut or zeroed at a commit is a whole log to
/// SQLite, and the chain of rows does not say where it should have ended: this does.
struct ReleasedRow: Equatable {
    /// The seed of the journal that the row is of.
    var seed: UInt64
    /// Where the next row stands.
    var position: JournalPosition
    /// The promise under which the row was committed.
    var durability: JournalDurability
    /// The start of the machine at which it was committed.
    var boot: BootID

    static let fileName = "released-row"

    /// Whether a power cut may have taken the row, which `relaxed` allows.
    func mayBeLost(at boot: BootID) -> Bool {
        durability == .relaxed && !self.boot.isSame(as: boot)
    }

    /// Refuses a journal that does not hold the row any more, and names the row.
    ///
    /// *Throws*: ``JournalError/damage(_:)``. A row that was trimmed is held by a snapshot. A
    /// journal that ends with a row of epoch 0 is a copy that was put here to begin another epoch.
    func check(_ place: JournalPlace, at boot: BootID) throws {
        guard place.instance.seed == seed, !mayBeLost(at: boot),
            position.number > place.anchor.number
        else { return }
        let last = try place.table.lastNumber() ?? place.anchor.number
        let end = try place.position(of: last)
        guard end.number == 0 || end.epoch != 0 else { return }
        let found = last < position.number ? nil : try place.table.position(of: position.number)
        guard let found else {
            throw JournalError.damage(
                JournalDamage(
                    file: place.table.file, row: last + 1,
                    expected: "rows up to \(position.number), which clients have seen, by "
                        + Self.fileName + " beside it",
                    got: "a journal that has lost its tail behind row \(last)"))
        }
        guard found.chain == position.chain else {
            throw JournalError.damage(
                JournalDamage(
                    file: place.table.file, row: position.number,
                    expected: "checksum \(position.chain), which clients have seen, by "
                        + Self.fileName + " beside it",
                    got: "\(found.chain): another history"))
        }
    }
}

/// What is asked of a journal about where rows stand.
struct JournalPlace {
    let table: BatchTable
    let instance: JournalInstance
    let anchor: JournalPosition

    func position(of number: UInt64) throws -> JournalPosition {
        try JournalReader.position(number, anchor: anchor, table.db, table.file)
    }
}

/// The file that holds a ``ReleasedRow``, mapped into memory: a write is a few stores and waits for
/// no disk.
///
/// *Shape*: two slots of ``slotWordCount`` words: generation, the instance's seed, the row's
/// position (number, epoch, sequence, time, chain), whether it is relaxed, boot (high, low), and the
/// checksum of those before. The slot with the higher generation counts. Slots take turns, so a
/// process that is killed within a write leaves the slot before. What the system has not written
/// when the power fails is an older row, or a slot without its checksum: neither refuses a journal
/// that is whole.
///
/// *Owner*: one thread at a time.
final class ReleasedRowFile {
    private let words: SharedWords
    private let seed: UInt64
    private let durability: JournalDurability
    private let boot: BootID
    private var generation: UInt64

    static let slotWordCount = 11
    static let slotCount = 2

    /// Maps the file, makes it where there is none, and notes `position` in both slots: rows behind
    /// it, which a relaxed history may have lost, are not compared with again.
    init(
        in directory: DataDirectory, of instance: JournalInstance, at position: JournalPosition,
        durability: JournalDurability, boot: BootID
    ) throws(JournalError) {
        words = try directory.words(
            ReleasedRow.fileName, count: Self.slotCount * Self.slotWordCount)
        seed = instance.seed
        self.durability = durability
        self.boot = boot
        let words = words
        generation = (0..<Self.slotCount).map { words[$0 * Self.slotWordCount] }.max() ?? 0
        for _ in 0..<Self.slotCount { note(position) }
    }

    /// Notes that outputs up to the row before `position` may leave from here on.
    func note(_ position: JournalPosition) {
        generation &+= 1
        let slot: InlineArray<10, UInt64> = [
            generation, seed, position.number, position.epoch, position.sequence,
            UInt64(bitPattern: position.time), position.chain, durability == .relaxed ? 1 : 0,
            boot.high, boot.low,
        ]
        let start = Int(generation % UInt64(Self.slotCount)) * Self.slotWordCount
        for index in slot.indices { words[start + index] = slot[index] }
        words[start + slot.count] = Checksum.of(slot, behind: 0)
    }

    /// The row that is noted in `directory`; nil where no slot is whole.
    static func read(in directory: DataDirectory) throws(JournalError) -> ReleasedRow? {
        guard try directory.byteCount(of: ReleasedRow.fileName) != nil else { return nil }
        let bytes = try directory.read(
            ReleasedRow.fileName, at: 0, count: slotCount * slotWordCount * 8)
        let slots = (0..<slotCount).compactMap { index in
            slot(bytes.dropFirst(index * slotWordCount * 8).prefix(slotWordCount * 8))
        }
        return slots.max { $0.generation < $1.generation }?.row
    }

    private static func slot(
        _ bytes: ArraySlice<UInt8>
    ) -> (generation: UInt64, row: ReleasedRow)? {
        guard bytes.count == slotWordCount * 8 else { return nil }
        var words = (0..<slotWordCount).map { index in
            let start = bytes.startIndex + index * 8
            return bytes[start..<start + 8].reversed().reduce(0 as UInt64) {
                $0 << 8 | UInt64($1)
            }
        }
        let sum = words.removeLast()
        guard sum == Checksum.of(words, behind: 0), words[0] > 0,
            let position = JournalPosition(words: Array(words[2..<7]))
        else { return nil }
        let row = ReleasedRow(
            seed: words[1], position: position, durability: words[7] == 1 ? .relaxed : .strict,
            boot: BootID(high: words[8], low: words[9]))
        return (words[0], row)
    }
}
