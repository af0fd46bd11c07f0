@testable import ReactorCluster

/// Rows whose checksum is that of the row before plus the row's number and length.
enum TestRows {
    static let start = RowPosition(number: 0, chain: 1_000)

    static func chain(_ row: LogRow, behind: UInt64) -> UInt64 {
        behind &+ row.number &+ UInt64(row.bytes.count)
    }

    static func isValid(_ row: LogRow, behind: UInt64) -> Bool {
        row.chain == chain(row, behind: behind)
    }

    /// Rows after a position, one for each length.
    static func rows(_ byteCounts: [Int], behind: RowPosition = start) -> [LogRow] {
        var position = behind
        return byteCounts.map { byteCount in
            var row = LogRow(
                number: position.number + 1, chain: 0,
                bytes: (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            row.chain = chain(row, behind: position.chain)
            position = row.position
            return row
        }
    }

    /// The entries that a leader makes of rows, numbered from `first` on; entry E has the revision
    /// 10 E.
    static func entries(
        _ rows: [LogRow], term: UInt64 = 5, behind: RowPosition = start, first: UInt64 = 1
    ) -> [StoredEntry] {
        var queue = AppendQueue(term: term, behind: behind)
        queue.add(rows)
        var entries: [StoredEntry] = []
        while let flight = queue.nextFlight(expected: first - 1 + UInt64(entries.count), at: 0) {
            let number = flight.expected + 1
            entries.append(
                StoredEntry(
                    position: LogPosition(number: number, revision: number * 10),
                    bytes: flight.bytes))
            queue.confirm()
        }
        return entries
    }
}
