/// The reason why an entry does not continue the history that a node has.
///
/// The node must stop: it, or the engine's member that it asks, has another history than the rest
/// of the cluster.
package enum LogFork: Error, Equatable, Sendable {
    /// The entry's first row is not the one after the node's last row.
    case row(at: LogPosition, expected: RowPosition, got: RowPosition)
    /// A row's content does not lead to its checksum.
    case checksum(at: LogPosition, row: UInt64)
    /// The entry is of an earlier term than the entry before it.
    case term(at: LogPosition, expected: UInt64, got: UInt64)
    /// A part does not continue the part before it, although the leader is the same.
    case part(at: LogPosition, row: UInt64, expected: Int, got: Int)
    /// The entry has a revision that is not later than that of the entry before it.
    case revision(at: LogPosition, behind: UInt64)
    /// The entry cannot be decoded.
    case damaged(at: LogPosition, RecordError)
}

extension LogFork: CustomStringConvertible {
    package var description: String {
        let (entry, what) = parts
        return "entry \(entry.number) of the cluster's log, revision \(entry.revision): \(what); "
            + "compare this node's history with another node's, and join this node again from a "
            + "snapshot if its history differs from the others"
    }

    private var parts: (LogPosition, String) {
        switch self {
        case .row(let at, let expected, let got):
            (
                at,
                "it continues row \(got.number) with checksum \(got.chain), this node's last row "
                    + "is \(expected.number) with checksum \(expected.chain)"
            )
        case .checksum(let at, let row): (at, "the content of row \(row) has another checksum")
        case .term(let at, let expected, let got):
            (at, "its term is \(got), at least \(expected) is expected")
        case .part(let at, let row, let expected, let got):
            (at, "a part of row \(row) at byte \(expected) is expected, it has byte \(got)")
        case .revision(let at, let behind):
            (at, "the entry before it has revision \(behind)")
        case .damaged(let at, let error): (at, "\(error)")
        }
    }
}
