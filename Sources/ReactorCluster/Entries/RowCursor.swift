/// Follows the entries of the log, and finds the rows that come next.
///
/// *Place*: all entries go through it: those of the watch, and on the leader its own.
///
/// *Shape*: ``position`` is the last complete row and the entry that completed it. ``read`` is the
/// last entry taken; it is further while a row's parts are incomplete. Entries that were taken are
/// ignored, and entries after a missing one are not taken.
struct RowCursor {
    /// The effect of an entry.
    enum Step: Equatable {
        /// The entry was taken before.
        case repeated
        /// An entry before this one is missing.
        case gap
        /// The entry was taken. The rows are those that it completes, none with a part that is not
        /// the last.
        case advanced([LogRow])
    }

    /// Whether a row's content and the checksum of the row before it lead to the row's checksum.
    typealias Check = (_ row: LogRow, _ behind: UInt64) -> Bool

    private(set) var position: AppliedPosition
    private(set) var read: LogPosition
    /// The term of the last entry.
    private var term: UInt64
    private var partial: PartialRow?
    private let isValid: Check

    init(at position: AppliedPosition, check: @escaping Check) {
        self.position = position
        read = position.entry
        term = position.term
        isValid = check
    }

    /// A row whose last part is missing.
    private struct PartialRow {
        let number: UInt64
        let chain: UInt64
        let rowByteCount: Int
        var bytes: [UInt8]

        func continues(with part: RowPart) -> Bool {
            part.chain == chain && part.rowByteCount == rowByteCount && part.offset == bytes.count
        }
    }

    /// Takes an entry if it is the next one. *Throws*: if it does not continue the history; the
    /// cursor is then unchanged.
    mutating func take(_ stored: StoredEntry) throws(LogFork) -> Step {
        let at = stored.position
        guard at.number > read.number else { return .repeated }
        guard at.number == read.number + 1 else { return .gap }
        guard at.revision > read.revision else {
            throw .revision(at: at, behind: read.revision)
        }
        let entry: LogEntry
        do { entry = try LogEntry(bytes: stored.bytes) } catch { throw .damaged(at: at, error) }
        guard entry.term >= term else { throw .term(at: at, expected: term, got: entry.term) }
        guard entry.behind == position.row else {
            throw .row(at: at, expected: position.row, got: entry.behind)
        }
        // A new leader does not have the end of a row that its predecessor began.
        var started = entry.term > term ? nil : partial
        let rows = try rows(of: entry, at: at, &started)
        partial = started
        term = entry.term
        read = at
        if let last = rows.last {
            position = AppliedPosition(row: last.position, entry: at, term: term)
        }
        return .advanced(rows)
    }

    private func rows(
        of entry: LogEntry, at: LogPosition, _ partial: inout PartialRow?
    ) throws(LogFork) -> [LogRow] {
        let rows: [LogRow]
        switch entry.content {
        case .rows(let whole):
            if let partial {
                throw .part(
                    at: at, row: partial.number, expected: partial.bytes.count, got: 0)
            }
            rows = whole
        case .part(let part):
            guard let row = try joined(part, behind: entry.behind, at: at, &partial) else {
                return []
            }
            rows = [row]
        }
        var chain = entry.behind.chain
        for row in rows {
            guard isValid(row, chain) else { throw .checksum(at: at, row: row.number) }
            chain = row.chain
        }
        return rows
    }

    /// Adds a part; returns the row if it is complete.
    private func joined(
        _ part: RowPart, behind: RowPosition, at: LogPosition, _ partial: inout PartialRow?
    ) throws(LogFork) -> LogRow? {
        var row =
            partial
            ?? PartialRow(
                number: behind.number + 1, chain: part.chain, rowByteCount: part.rowByteCount,
                bytes: [])
        guard row.continues(with: part) else {
            throw .part(at: at, row: row.number, expected: row.bytes.count, got: part.offset)
        }
        row.bytes += part.bytes
        partial = part.isLast ? nil : row
        return part.isLast
            ? LogRow(number: row.number, chain: row.chain, bytes: row.bytes) : nil
    }
}
