import Testing

@testable import ReactorCluster

struct AppendQueueTests {
    private static func decoded(_ entries: [StoredEntry]) throws -> [LogEntry] {
        try entries.map { try LogEntry(bytes: $0.bytes) }
    }

    @Test("all rows that wait go into the next entry")
    func joins() throws {
        let rows = TestRows.rows([3, 0, 5])
        let entries = try Self.decoded(TestRows.entries(rows))
        #expect(
            entries == [LogEntry(term: 5, behind: TestRows.start, content: .rows(rows))])
    }

    @Test("an entry has as many rows as fit, and no more")
    func fills() throws {
        let half = (EngineLimits.entryBytesMax - LogEntry.overhead(rowCount: 2)) / 2
        let fitting = TestRows.rows([half, half])
        #expect(TestRows.entries(fitting).count == 1)
        let rows = TestRows.rows([half, half + 1, 1])
        let entries = try Self.decoded(TestRows.entries(rows))
        #expect(entries.map(\.content) == [.rows([rows[0]]), .rows([rows[1], rows[2]])])
        #expect(entries[1].behind == rows[0].position)
    }

    @Test("a row that is too long for an entry goes in parts, the last one as short as needed")
    func parts() throws {
        let most = LogEntry.partBytesMax
        #expect(TestRows.entries(TestRows.rows([most])).count == 1)
        let rows = TestRows.rows([1, 2 * most + 1, 2])
        let entries = TestRows.entries(rows)
        #expect(entries.allSatisfy { $0.bytes.count <= EngineLimits.entryBytesMax })
        let parts = try Self.decoded(entries).compactMap { entry -> RowPart? in
            guard case .part(let part) = entry.content else { return nil }
            #expect(entry.behind == rows[0].position)
            return part
        }
        #expect(entries.count == 5 && parts.map(\.offset) == [0, most, 2 * most])
        #expect(parts.flatMap(\.bytes) == rows[1].bytes)
        #expect(parts.map(\.isLast) == [false, false, true])
    }

    @Test("one entry is in flight: the next one waits for the confirmation")
    func oneInFlight() {
        var queue = AppendQueue(term: 5, behind: TestRows.start)
        #expect(queue.nextFlight(expected: 0, at: 1) == nil)
        let rows = TestRows.rows([1, 2])
        queue.add([rows[0]])
        let first = queue.nextFlight(expected: 0, at: 1)
        queue.add([rows[1]])
        #expect(first != nil && queue.nextFlight(expected: 1, at: 2) == nil)
        #expect(queue.flight == first && queue.end == rows[1].position)
        queue.confirm()
        let second = queue.nextFlight(expected: 1, at: 3)
        #expect(second?.expected == 1 && second?.sentAt == 3)
        queue.confirm()
        #expect(queue.isEmpty && queue.flight == nil)
    }

    @Test("a queue that is never empty does not keep the rows that left it")
    func leavesNothing() throws {
        var queue = AppendQueue(term: 5, behind: TestRows.start)
        let rows = TestRows.rows((0..<5_000).map { $0 % 3 })
        var sent: [LogRow] = []
        for start in stride(from: 0, to: rows.count, by: 100) {
            queue.add(Array(rows[start..<start + 100]))
            guard let flight = queue.nextFlight(expected: 0, at: 0) else { continue }
            if case .rows(let rows) = try LogEntry(bytes: flight.bytes).content { sent += rows }
            queue.confirm()
        }
        #expect(sent == rows && queue.isEmpty)
    }
}
