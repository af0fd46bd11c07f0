/// How a journal is being written, or was left: noted in it, so that the next start knows.
///
/// *Shape*: a word of bits (1: open, 2: relaxed, 4: the log's commits waited for each other), the
/// two of the start of the machine, and the number of a row plus 1, or 0.
struct JournalMark: Equatable {
    /// Whether somebody writes, or did when it ended without closing.
    var isOpen: Bool
    /// Under which promise.
    var durability: JournalDurability
    /// Whether no commit in the log began before the one before was durable.
    var isLogStrict: Bool
    /// On which start of the machine.
    var boot: BootID
    // because whoever finds that out may end before a row tells of it
    /// The last row that a power cut left, if more may have been behind it; until there is another.
    var cutBehind: UInt64?

    static let key = "mark"

    /// Whether commits that were acknowledged may have been lost by a power cut, behind row `last`,
    /// which is the last.
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
        // because those who wrote three knew nothing of a cut
        guard [3, 4].contains(words.count), words[0] < 8 else { return nil }
        isOpen = words[0] & 1 != 0
        durability = words[0] & 2 != 0 ? .relaxed : .strict
        isLogStrict = words[0] & 4 != 0
        boot = BootID(high: words[1], low: words[2])
        cutBehind = words.count == 4 && words[3] > 0 ? words[3] - 1 : nil
    }

    /// Of a journal that nobody has written to yet.
    static let new = JournalMark(
        isOpen: false, durability: .strict, isLogStrict: true, boot: BootID(high: 0, low: 0))
}
