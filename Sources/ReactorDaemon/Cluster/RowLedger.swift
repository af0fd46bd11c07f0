import DequeModule
import ReactorBytes
import ReactorCluster
import ReactorJournal

/// The rows between a server and the cluster's log: those that the leader has decided on and the log
/// does not have, and those that the log has and no server has applied.
///
/// *Shape*: ``position`` is after the last row of the server, of either kind. The first waiting row
/// follows the last row that the log has.
final class RowLedger {
    private var numbering: RowNumbering
    private var waiting: Deque<DecidedRow> = []
    /// Rows that ``isValid(_:behind:)`` has decoded, so that they are decoded once.
    private var decoded: Deque<JournalRow> = []

    /// A row of the leader, and the turn that it came from.
    struct DecidedRow {
        let turn: UInt64
        let row: JournalRow
    }

    /// A ledger whose server has the history up to `position`.
    init(after position: JournalPosition) { numbering = RowNumbering(after: position) }

    /// The position after the server's last row.
    var position: JournalPosition { numbering.position }

    /// Number of rows that the log does not have.
    var waitingCount: Int { waiting.count }

    /// Gives a batch of the leader its row. `time` is the wall clock's, in milliseconds since 1970.
    ///
    /// *Throws*: if the batch does not follow the last row.
    func add(_ batch: Batch, at time: Int64) throws(JournalError) -> LogRow {
        let row = try numbering.row(of: batch, at: time)
        waiting.append(DecidedRow(turn: batch.turn, row: row))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(row.deltas.count + row.facts.count + 64)
        row.encode(into: &bytes)
        return LogRow(number: row.number, chain: row.chain, bytes: bytes)
    }

    /// Removes the rows up to `number`, which the log has, and returns them.
    func confirm(upTo number: UInt64) -> [DecidedRow] {
        let count = waiting.prefix { $0.row.number <= number }.count
        let confirmed = Array(waiting.prefix(count))
        waiting.removeFirst(count)
        return confirmed
    }

    /// Continues after `position`: the waiting rows were given up.
    func goBack(to position: JournalPosition) {
        waiting = []
        numbering.goBack(to: position)
    }

    /// Whether a row of the log and the checksum of the row before lead to the row's checksum.
    func isValid(_ row: LogRow, behind chain: UInt64) -> Bool {
        if let first = waiting.first?.row.number, row.number >= first,
            row.number - first < UInt64(waiting.count)
        {
            // A row of this leader, as the log now has it. The checksum was made of its content.
            return waiting[Int(row.number - first)].row.chain == row.chain
        }
        var offset = 0
        guard
            let found = try? JournalRow(encoded: row.bytes.span, at: &offset, in: "the log"),
            offset == row.bytes.count, found.number == row.number, found.chain == row.chain,
            found.isIntact(behind: chain)
        else { return false }
        decoded.append(found)
        return true
    }

    /// Takes rows of the log that were found valid, for the server to apply.
    func take(_ rows: [LogRow]) -> [JournalRow] {
        guard let first = rows.first else { return [] }
        while let row = decoded.first, row.number < first.number { decoded.removeFirst() }
        let taken = Array(decoded.prefix(rows.count))
        precondition(
            taken.map(\.number) == rows.map(\.number), "rows are applied that were not checked")
        decoded.removeFirst(taken.count)
        if let last = taken.last { numbering.goBack(to: last.position) }
        return taken
    }
}

extension AppliedPosition {
    /// The position as words that the local journal stores beside the rows: entry, its revision, the
    /// term, the row, and the row after which the log began.
    func words(behind origin: RowPosition) -> [UInt64] {
        [entry.number, entry.revision, term, row.number, origin.number, origin.chain]
    }

    /// The position after the last row of a history, with the words that were stored with the last
    /// row from the log; nil if that is another row, or a log that began after another row.
    init?(after end: JournalPosition, behind origin: RowPosition, words: [UInt64]) {
        guard words.count == 6, words[3] == end.number,
            RowPosition(number: words[4], chain: words[5]) == origin
        else { return nil }
        self.init(
            row: RowPosition(number: end.number, chain: end.chain),
            entry: LogPosition(number: words[0], revision: words[1]), term: words[2])
    }
}
