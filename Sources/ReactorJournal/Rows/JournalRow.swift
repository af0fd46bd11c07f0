package import ReactorBytes

/// A turn's batch, read from the journal, with a checksum of its content and its predecessor.
package struct JournalRow: Equatable, Sendable {
    /// Dense, from 1 on: a gap is damage.
    package var number: UInt64
    /// The epoch of the sequences.
    package var epoch: UInt64
    /// Sequence before the batch's first transaction.
    package var after: UInt64
    /// Sequence of the batch's last transaction; equal to ``after`` if the turn applied none.
    package var sequence: UInt64
    /// The wall clock's time in milliseconds since 1970; less than the time of the row before only
    /// if the clock was set back by more than ``JournalClock/stepMin``.
    package var time: Int64
    /// The delta frames, as sent to subscribers.
    package var deltas: [UInt8]
    /// The turn's other decisions.
    package var facts: [UInt8]
    /// The checksum of the row, seeded with the checksum of the row before.
    package var chain: UInt64

    /// The batch, which shares the row's bytes.
    package var batch: Batch {
        Batch(
            turn: 0, epoch: epoch, after: after, sequence: sequence, deltas: ByteSlice(deltas),
            facts: facts)
    }

    /// The position after the row.
    package var position: JournalPosition {
        JournalPosition(
            number: number, epoch: epoch, sequence: sequence, time: time, chain: chain)
    }

    /// Whether the content leads from the checksum of the row before to ``chain``.
    package func isIntact(behind previous: UInt64) -> Bool {
        chain == expectedChain(behind: previous)
    }

    /// Returns the expected value of ``chain`` after the row before.
    func expectedChain(behind previous: UInt64) -> UInt64 {
        Self.chain(
            of: position, after: after, deltas.span, facts.span, behind: previous)
    }

    /// Returns the checksum of a row: of its words (number, epoch, after, sequence, time) and the
    /// two lengths, then of the deltas, then of the facts, each seeded with the one before.
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

    /// Throws an error that names the row if it is not the one after `position`.
    package func verify(
        behind position: JournalPosition, in file: String
    ) throws(JournalError) {
        let next = position.number + 1
        func damage(_ expected: String, got: String) -> JournalError {
            .damage(JournalDamage(file: file, row: next, expected: expected, got: got))
        }
        guard number == next else { throw damage("row \(next)", got: "row \(number)") }
        let expected = expectedChain(behind: position.chain)
        guard chain == expected else { throw damage("checksum \(expected)", got: "\(chain)") }
        guard epoch != position.epoch || after == position.sequence, sequence >= after else {
            throw damage("transactions after \(position.sequence)", got: "after \(after)")
        }
    }
}
