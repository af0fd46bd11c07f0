/// How a journal is being written, or was left: noted in it, so that the next start knows.
///
/// *Shape*: a word of bits (1: open, 2: relaxed, 4: the log's commits waited for each other), and
/// the two of the start of the machine.
struct JournalMark: Equatable {
    /// Whether somebody writes, or did when it ended without closing.
    var isOpen: Bool
    /// Under which promise.
    var durability: JournalDurability
    /// Whether no commit in the log began before the one before was durable.
    var isLogStrict: Bool
    /// On which start of the machine.
    var boot: BootID

    static let key = "mark"

    /// Whether commits that were acknowledged may have been lost by a power cut.
    func mayHaveLostTail(at boot: BootID) -> Bool {
        isOpen && durability == .relaxed && !self.boot.isSame(as: boot)
    }

    var words: [UInt64] {
        let bits =
            (isOpen ? 1 : 0) | (durability == .relaxed ? 2 : 0) | (isLogStrict ? 4 : 0) as UInt64
        return [bits, boot.high, boot.low]
    }

    init(isOpen: Bool, durability: JournalDurability, isLogStrict: Bool, boot: BootID) {
        self.isOpen = isOpen
        self.durability = durability
        self.isLogStrict = isLogStrict
        self.boot = boot
    }

    init?(words: [UInt64]) {
        guard words.count == 3, words[0] < 8 else { return nil }
        isOpen = words[0] & 1 != 0
        durability = words[0] & 2 != 0 ? .relaxed : .strict
        isLogStrict = words[0] & 4 != 0
        boot = BootID(high: words[1], low: words[2])
    }

    /// Of a journal that nobody has written to yet.
    static let new = JournalMark(
        isOpen: false, durability: .strict, isLogStrict: true, boot: BootID(high: 0, low: 0))
}
