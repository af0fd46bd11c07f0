/// A turn's batch as it rests: what happened, behind what, and the checksum of all of it.
public struct JournalRow: Equatable, Sendable {
    /// Dense from 1 on: a gap is damage.
    public var number: UInt64
    /// The history that the sequences are of.
    public var epoch: UInt64
    /// Sequence before the batch's first transaction.
    public var after: UInt64
    /// Sequence of its last; equal to ``after`` where the turn applied nothing.
    public var sequence: UInt64
    /// Milliseconds since 1970, as the wall clock said; less than the row's before only where that
    /// clock was set back by more than ``JournalClock/stepMin``.
    public var time: Int64
    /// The delta frames, as subscribers got them.
    public var deltas: [UInt8]
    /// Everything else that the turn decided.
    public var facts: [UInt8]
    /// The checksum of the row, seeded with that of the row before.
    public var chain: UInt64

    /// Where the next row stands.
    public var position: JournalPosition {
        JournalPosition(
            number: number, epoch: epoch, sequence: sequence, time: time, chain: chain)
    }

    /// What ``chain`` has to be behind the row before.
    func expectedChain(behind previous: UInt64) -> UInt64 {
        Self.chain(
            of: position, after: after, deltas.span, facts.span, behind: previous)
    }

    /// The checksum of a row: of its words (number, epoch, after, sequence, time) and the two
    /// lengths, then of the deltas, then of the facts, each seeded with the one before.
    static func chain(
        of position: JournalPosition, after: UInt64, _ deltas: Span<UInt8>, _ facts: Span<UInt8>,
        behind previous: UInt64
    ) -> UInt64 {
        let words: InlineArray<7, UInt64> = [
            position.number, position.epoch, after, position.sequence,
            UInt64(bitPattern: position.time), UInt64(deltas.count), UInt64(facts.count),
        ]
        let head = Checksum.of(words, behind: previous)
        return Checksum.of(facts, behind: Checksum.of(deltas, behind: head))
    }

    /// Refuses the row, by name, where it is not the one behind `position`.
    func verify(behind position: JournalPosition, in file: String) throws(JournalError) {
        let next = position.number + 1
        func damage(_ expected: String, got: String) -> JournalError {
            .damage(JournalDamage(file: file, row: next, expected: expected, got: got))
        }
        guard number == next else { throw damage("row \(next)", got: "row \(number)") }
        let expected = expectedChain(behind: position.chain)
        guard chain == expected else { throw damage("checksum \(expected)", got: "\(chain)") }
        guard epoch != position.epoch || after == position.sequence, sequence >= after else {
            throw damage("transactions behind \(position.sequence)", got: "\(after) on")
        }
    }
}
