/// A position between two rows of a journal, and the state of the history there.
package struct JournalPosition: Equatable, Sendable {
    /// Number of the row before the position; 0 at the beginning.
    package var number: UInt64
    /// The epoch of ``sequence``; 0 at the beginning.
    package var epoch: UInt64
    /// Sequence of the last transaction.
    package var sequence: UInt64
    /// When the row before the position was passed to the journal, in milliseconds since 1970.
    package var time: Int64
    /// The seed of the next row's checksum.
    package var chain: UInt64
}

extension JournalPosition {
    /// The beginning of the journal `instance`.
    package static func beginning(of instance: JournalInstance) -> JournalPosition {
        beginning(seed: instance.seed)
    }

    /// The beginning of a journal; `seed` is the seed of the first checksum.
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
