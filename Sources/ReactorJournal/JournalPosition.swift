/// A place between two rows: behind which one the next stands, and what has happened until there.
public struct JournalPosition: Equatable, Sendable {
    /// Number of the row before; 0 at the beginning.
    public var number: UInt64
    /// The history that ``sequence`` is of; 0 at the beginning.
    public var epoch: UInt64
    /// Sequence of the last transaction.
    public var sequence: UInt64
    /// Milliseconds since 1970 at which the row before was handed over.
    public var time: Int64
    /// The checksum that the next row's is seeded with.
    public var chain: UInt64

    /// Names a place between two rows.
    public init(number: UInt64, epoch: UInt64, sequence: UInt64, time: Int64, chain: UInt64) {
        self.number = number
        self.epoch = epoch
        self.sequence = sequence
        self.time = time
        self.chain = chain
    }

    /// The beginning of a journal whose first checksum is seeded with `seed`.
    static func beginning(seed: UInt64) -> JournalPosition {
        JournalPosition(number: 0, epoch: 0, sequence: 0, time: 0, chain: seed)
    }

    /// *Shape*: number, epoch, sequence, time, chain.
    var words: [UInt64] { [number, epoch, sequence, UInt64(bitPattern: time), chain] }

    init?(words: [UInt64]) {
        guard words.count == 5 else { return nil }
        self.init(
            number: words[0], epoch: words[1], sequence: words[2],
            time: Int64(bitPattern: words[3]), chain: words[4])
    }
}
