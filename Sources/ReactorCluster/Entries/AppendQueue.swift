/// The rows that a leader has decided on and the log does not have yet.
///
/// *Shape*: the rows have consecutive numbers. At most one entry is in flight; its rows stay in
/// front of the queue until it is answered. A row that is too long for an entry goes in parts, each
/// an entry; the row leaves the queue with the last one.
struct AppendQueue {
    /// An entry that was sent and not answered.
    struct Flight: Equatable {
        let bytes: [UInt8]
        /// The number of entries that the log has before it.
        let expected: UInt64
        /// When it was sent for the first time.
        let sentAt: UInt64
        /// Rows that leave the queue with it; 0 for a part that is not the last.
        fileprivate let rowCount: Int
        /// Bytes of the first waiting row that are sent with it; 0 unless it is such a part.
        fileprivate let partByteCount: Int
    }

    private let term: UInt64
    /// The position before the first waiting row.
    private var behind: RowPosition
    /// The position after the last waiting row.
    private(set) var end: RowPosition
    private var rows: ArraySlice<LogRow> = []
    /// Bytes of the first row that the log has in parts.
    private var sentByteCount = 0
    private(set) var flight: Flight?

    /// An empty queue after the log's last row, of a leader's `term`.
    init(term: UInt64, behind: RowPosition) {
        self.term = term
        self.behind = behind
        end = behind
    }

    /// True if no row waits or is in flight.
    var isEmpty: Bool { rows.isEmpty }

    /// Adds rows. *Traps*: if their numbers do not continue those of the rows before.
    mutating func add(_ more: [LogRow]) {
        for row in more {
            precondition(
                row.number == end.number + 1, "row \(row.number) is added after \(end.number)")
            end = row.position
        }
        rows += more
    }

    /// Makes the next entry, of as many waiting rows as fit; nil if none waits or one is in
    /// flight. `expected` is the number of the log's last entry.
    mutating func nextFlight(expected: UInt64, at now: UInt64) -> Flight? {
        guard flight == nil, let first = rows.first else { return nil }
        flight =
            first.bytes.count > LogEntry.partBytesMax
            ? part(of: first, expected: expected, at: now)
            : whole(expected: expected, at: now)
        return flight
    }

    /// Removes the entry in flight and the rows that it completes: the log has them.
    mutating func confirm() {
        guard let sent = flight else { return }
        flight = nil
        sentByteCount += sent.partByteCount
        guard sent.rowCount > 0 else { return }
        sentByteCount = 0
        let rest = rows.dropFirst(sent.rowCount)
        if let last = rows[..<rest.startIndex].last { behind = last.position }
        // A slice that begins late in its array keeps the elements before it alive.
        rows = rest.isEmpty ? [] : rest
        if rows.startIndex > 1_024 { rows = ArraySlice(Array(rows)) }
    }

    private func whole(expected: UInt64, at now: UInt64) -> Flight {
        var byteCount = LogEntry.overhead(rowCount: 0)
        let fitting = rows.prefix { row in
            byteCount += LogEntry.overhead(rowCount: 1) - LogEntry.overhead(rowCount: 0)
            byteCount += row.bytes.count
            return byteCount <= EngineLimits.entryBytesMax
        }
        let entry = LogEntry(term: term, behind: behind, content: .rows(Array(fitting)))
        return Flight(
            bytes: entry.bytes, expected: expected, sentAt: now, rowCount: fitting.count,
            partByteCount: 0)
    }

    private func part(of row: LogRow, expected: UInt64, at now: UInt64) -> Flight {
        let byteCount = min(row.bytes.count - sentByteCount, LogEntry.partBytesMax)
        let part = RowPart(
            chain: row.chain, rowByteCount: row.bytes.count, offset: sentByteCount,
            bytes: Array(row.bytes[sentByteCount..<sentByteCount + byteCount]))
        let entry = LogEntry(term: term, behind: behind, content: .part(part))
        return Flight(
            bytes: entry.bytes, expected: expected, sentAt: now, rowCount: part.isLast ? 1 : 0,
            partByteCount: part.isLast ? 0 : byteCount)
    }
}
