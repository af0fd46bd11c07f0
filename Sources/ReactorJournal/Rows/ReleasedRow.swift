import ReactorBytes

/// The last row whose outputs may have left the daemon, recorded beside the journal.
///
/// *Place*: the committer writes it after each commit and before the turn's outputs leave; a start
/// compares it with the journal's end. If the log is cut or zeroed at a commit, SQLite considers it
/// complete, and the chain of checksums does not mark its own end: this record shows the missing
/// rows.
struct ReleasedRow: Equatable {
    /// The seed of the row's journal.
    var seed: UInt64
    /// The position after the row.
    var position: JournalPosition
    /// The durability with which the row was committed.
    var durability: JournalDurability
    /// The boot during which the row was committed.
    var boot: BootID

    static let fileName = "released-row"

    /// Whether a power cut may have taken the row, as `relaxed` permits.
    func mayBeLost(at boot: BootID) -> Bool {
        durability == .relaxed && !self.boot.isSame(as: boot)
    }

    /// Throws an error that names the row if the journal does not contain it.
    ///
    /// *Throws*: ``JournalError/damage(_:)``. Not for a trimmed row, which a snapshot covers, and
    /// not for a journal whose last row has epoch 0: it is a copy that begins a new epoch.
    func compare(with locator: RowLocator, at boot: BootID) throws {
        guard locator.instance.seed == seed, !mayBeLost(at: boot),
            position.number > locator.anchor.number
        else { return }
        let last = try locator.lastNumber()
        let end = try locator.position(of: last)
        guard end.number == 0 || end.epoch != 0 else { return }
        let found = last < position.number ? nil : try locator.table.position(of: position.number)
        guard let found else {
            throw JournalError.damage(
                JournalDamage(
                    file: locator.table.file, row: last + 1,
                    expected: "rows up to \(position.number), which clients have seen, by "
                        + Self.fileName + " beside it",
                    got: "a journal that has lost its tail after row \(last)"))
        }
        guard found.chain == position.chain else {
            throw JournalError.damage(
                JournalDamage(
                    file: locator.table.file, row: position.number,
                    expected: "checksum \(position.chain), which clients have seen, by "
                        + Self.fileName + " beside it",
                    got: "\(found.chain): another history"))
        }
    }
}

/// The file with a ``ReleasedRow``, mapped into memory: a write is a few stores and does not wait
/// for the disk.
///
/// *Shape*: two slots of ``slotWordCount`` words: generation, the instance's seed, the row's
/// position (number, epoch, sequence, time, chain), whether it is relaxed, boot (high, low), and
/// the checksum of the words before. The slot with the higher generation is valid. Writes alternate
/// between the slots, so a process killed during a write leaves the other slot intact. After a
/// power cut the file may contain an older row, or a slot with a wrong checksum; neither causes an
/// intact journal to be refused.
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

    /// Maps the file, creates it if it is missing, and records `position` in both slots: later
    /// rows, which a relaxed history may have lost, are not compared any more.
    init(
        in directory: DataDirectory, of instance: JournalInstance, at position: JournalPosition,
        durability: JournalDurability, boot: BootID
    ) throws(JournalError) {
        words = try SharedWords(
            of: ReleasedRow.fileName, in: directory,
            count: Self.slotCount * Self.slotWordCount)
        seed = instance.seed
        self.durability = durability
        self.boot = boot
        let words = words
        generation = (0..<Self.slotCount).map { words[$0 * Self.slotWordCount] }.max() ?? 0
        for _ in 0..<Self.slotCount { record(position) }
    }

    /// Records that outputs up to the row before `position` may leave.
    func record(_ position: JournalPosition) {
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

    /// Returns the row recorded in `directory`; nil if no slot is valid.
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
