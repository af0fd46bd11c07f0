package import ReactorCluster

/// The content of the log, read from its entries without the machine's code, and the rows that
/// nodes told.
package final class ClusterHistory {
    /// A row of the history.
    package struct Row: Equatable {
        /// What the row says: an action's number.
        package let id: UInt64
        package let chain: UInt64
    }

    /// The rows, from number 1 on.
    package private(set) var rows: [Row] = []
    /// Rows that came in parts.
    package private(set) var partedRowCount = 0
    /// Rows whose parts a new term dropped.
    package private(set) var droppedRowCount = 0
    private var ids: Set<UInt64> = []
    private var term: UInt64 = 0
    private var parts: [UInt8] = []
    private let report: (String) -> Void

    /// An empty history; `report` gets the violations.
    package init(report: @escaping (String) -> Void) { self.report = report }

    /// The position after the last row.
    package var end: RowPosition {
        RowPosition(number: UInt64(rows.count), chain: rows.last?.chain ?? 0)
    }

    /// The log has another entry, written while the leader key had the revision `leaderTerm`.
    package func take(_ entry: StoredEntry, leaderTerm: UInt64) {
        guard let read = try? LogEntry(bytes: entry.bytes) else {
            return report("entry \(entry.position.number) cannot be decoded")
        }
        if read.term != leaderTerm {
            report(
                "entry \(entry.position.number) of term \(read.term) was accepted in term "
                    + "\(leaderTerm)")
        }
        if read.term != term {
            droppedRowCount += parts.isEmpty ? 0 : 1
            parts = []
        }
        term = read.term
        if read.behind != end {
            report("entry \(entry.position.number) continues \(read.behind), expected \(end)")
        }
        switch read.content {
        case .rows(let more):
            for row in more { append(row) }
        case .part(let part):
            parts += part.bytes
            guard parts.count == part.rowByteCount else { return }
            partedRowCount += 1
            append(LogRow(number: end.number + 1, chain: part.chain, bytes: parts))
            parts = []
        }
    }

    private func append(_ row: LogRow) {
        let id = ClusterRow.id(of: row)
        if row.number != end.number + 1 {
            report("row \(row.number) follows row \(end.number)")
        }
        if !ClusterRow.isValid(row, behind: end.chain) {
            report("row \(row.number) has a wrong checksum")
        }
        if !ids.insert(id).inserted { report("action \(id) is in the history twice") }
        rows.append(Row(id: id, chain: row.chain))
    }

    /// A node has a row under a number, or told of it: `what` says which.
    package func check(_ row: Row, number: UInt64, by node: ClusterNode, _ what: String) {
        guard number <= UInt64(rows.count) else {
            return report(
                "node \(node.index) \(what) row \(number), the log has \(rows.count) rows")
        }
        if rows[Int(number) - 1] != row {
            report("node \(node.index) \(what) another row \(number) than the log has")
        }
    }
}

/// The content of a simulated row: an action's number, and bytes that only cost space.
enum ClusterRow {
    static func make(_ id: UInt64, byteCount: Int, behind position: RowPosition) -> LogRow {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: id >> (8 * UInt64($0))) }
        if byteCount > 8 { bytes += [UInt8](repeating: 7, count: byteCount - 8) }
        return LogRow(
            number: position.number + 1,
            chain: chain(position.number + 1, id, bytes.count, behind: position.chain),
            bytes: bytes)
    }

    static func id(of row: LogRow) -> UInt64 {
        row.bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    static func isValid(_ row: LogRow, behind: UInt64) -> Bool {
        row.chain == chain(row.number, id(of: row), row.bytes.count, behind: behind)
    }

    private static func chain(
        _ number: UInt64, _ id: UInt64, _ byteCount: Int, behind: UInt64
    ) -> UInt64 {
        var mixed = behind &+ 0x9e37_79b9_7f4a_7c15
        for word in [number, id, UInt64(byteCount)] {
            mixed = (mixed ^ word) &* 0xbf58_476d_1ce4_e5b9
            mixed ^= mixed >> 29
        }
        return mixed
    }
}
