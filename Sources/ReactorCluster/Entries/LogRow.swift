/// A row of the history, as the log carries it: the cluster does not read its bytes.
package struct LogRow: Equatable, Sendable {
    /// Dense, from 1 on.
    package var number: UInt64
    /// The checksum of the row, seeded with that of the row before.
    package var chain: UInt64
    /// The row's content.
    package var bytes: [UInt8]

    /// Maximum size of a row in bytes; entries with a larger one are refused.
    package static let bytesMax = 1 << 30

    /// Creates a row. *Traps*: if it is longer than ``bytesMax``.
    package init(number: UInt64, chain: UInt64, bytes: [UInt8]) {
        precondition(
            bytes.count <= Self.bytesMax, "a row of \(bytes.count) bytes exceeds \(Self.bytesMax)")
        self.number = number
        self.chain = chain
        self.bytes = bytes
    }

    /// The position after the row.
    package var position: RowPosition { RowPosition(number: number, chain: chain) }
}

/// A position between two rows.
package struct RowPosition: Hashable, Sendable {
    /// Number of the row before the position; 0 at the beginning.
    package var number: UInt64
    /// The checksum of that row; the seed of the first row at the beginning.
    package var chain: UInt64

    /// Creates the position after the row `number` with the checksum `chain`.
    package init(number: UInt64, chain: UInt64) {
        self.number = number
        self.chain = chain
    }
}

/// A position in the history, with the log entry that leads to it.
///
/// *Place*: the local journal keeps it beside the rows, in the same transaction, and a start
/// continues from it.
package struct AppliedPosition: Hashable, Sendable {
    /// The position after the last complete row.
    package var row: RowPosition
    /// The position after the entry that completed that row.
    package var entry: LogPosition
    /// The term of that entry; 0 before the first.
    package var term: UInt64

    /// Creates a position.
    package init(row: RowPosition, entry: LogPosition, term: UInt64) {
        self.row = row
        self.entry = entry
        self.term = term
    }

    /// The beginning of a history whose first checksum is seeded with `seed`.
    package static func beginning(seed: UInt64) -> AppliedPosition {
        AppliedPosition(
            row: RowPosition(number: 0, chain: seed), entry: .beginning, term: 0)
    }
}
