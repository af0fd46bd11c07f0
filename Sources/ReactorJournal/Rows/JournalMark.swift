/// The journal's record of how it is or was being written, for the next start.
///
/// *Shape*: a word of bits (1: open, 2: relaxed, 4: the log's commits waited for each other), the
/// two words of the boot id, and a row number plus 1, or 0.
struct JournalMark: Equatable {
    /// Whether a process is writing, or ended without closing the journal.
    var isOpen: Bool
    /// The durability under which it writes.
    var durability: JournalDurability
    /// Whether every commit in the log was durable before the next one began.
    var isLogStrict: Bool
    /// The boot during which it writes.
    var boot: BootID
    /// The last row after a power cut that may have taken others; valid until the next row. Stored
    /// here, since the process that detects the cut may end before it appends a row.
    var cutBehind: UInt64?

    static let key = "mark"

    /// Whether a power cut may have taken acknowledged commits after row `last`, the last row.
    func mayHaveLostTail(behind last: UInt64, at boot: BootID) -> Bool {
        isOpen && durability == .relaxed && !self.boot.isSame(as: boot) || cutBehind == last
    }

    var words: [UInt64] {
        let bits =
            (isOpen ? 1 : 0) | (durability == .relaxed ? 2 : 0) | (isLogStrict ? 4 : 0) as UInt64
        return [bits, boot.high, boot.low, cutBehind.map { $0 + 1 } ?? 0]
    }

    init(
        isOpen: Bool, durability: JournalDurability, isLogStrict: Bool, boot: BootID,
        cutBehind: UInt64? = nil
    ) {
        self.isOpen = isOpen
        self.durability = durability
        self.isLogStrict = isLogStrict
        self.boot = boot
        self.cutBehind = cutBehind
    }

    init?(words: [UInt64]) {
        // Marks of three words were written before ``cutBehind`` existed.
        guard [3, 4].contains(words.count), words[0] < 8 else { return nil }
        isOpen = words[0] & 1 != 0
        durability = words[0] & 2 != 0 ? .relaxed : .strict
        isLogStrict = words[0] & 4 != 0
        boot = BootID(high: words[1], low: words[2])
        cutBehind = words.count == 4 && words[3] > 0 ? words[3] - 1 : nil
    }

    /// The mark of a journal without rows.
    static let new = JournalMark(
        isOpen: false, durability: .strict, isLogStrict: true, boot: BootID(high: 0, low: 0))
}
