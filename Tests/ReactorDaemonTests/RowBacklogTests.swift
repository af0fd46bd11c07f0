import Testing

@testable import ReactorDaemon
@testable import ReactorJournal

struct RowBacklogTests {
    /// A row with so many bytes of deltas.
    private static func row(_ number: UInt64, byteCount: Int = 0) -> JournalRow {
        JournalRow(
            number: number, epoch: 1, after: number - 1, sequence: number, time: 0,
            deltas: [UInt8](repeating: 0, count: byteCount), facts: [], chain: number)
    }

    /// The numbers of the rows of pieces, and the first word of each piece.
    private static func told(_ pieces: [RowBacklog.Piece]) -> [[UInt64]] {
        pieces.map { $0.words + $0.rows.map(\.number) }
    }

    @Test("a journal that keeps up is given each commit at once")
    func passing() {
        var backlog = RowBacklog(byteCountMax: 100)
        #expect(Self.told(backlog.add([Self.row(1), Self.row(2)], [70])) == [[70, 1, 2]])
        #expect(Self.told(backlog.add([Self.row(3, byteCount: 500)], [71])) == [[71, 3]])
        #expect(!backlog.isBehind && !backlog.isFull(false) && backlog.rowCount == 3)
        #expect(backlog.confirm(upTo: 2).isEmpty && backlog.rowCount == 1)
        #expect(backlog.rows(after: 1).map(\.number) == [3])
        #expect(backlog.confirm(upTo: 3).isEmpty && backlog.rows(after: 0).isEmpty)
    }

    @Test("without space, rows wait; with space, the journal gets them in slices and in order")
    func stalled() {
        var backlog = RowBacklog(byteCountMax: 1_000)
        _ = backlog.add([Self.row(1)], [1])
        _ = backlog.add([Self.row(2)], [2])
        #expect(backlog.confirm(upTo: 1).isEmpty)
        backlog.stall()
        // Two of 3 MiB do not fit into one slice.
        for number in 3...5 as ClosedRange<UInt64> {
            #expect(backlog.add([Self.row(number, byteCount: 3 << 20)], [number]).isEmpty)
        }
        #expect(backlog.isStalled && backlog.rowCount == 4)
        #expect(backlog.confirm(upTo: 1).isEmpty)
        #expect(Self.told(backlog.resume()) == [[2, 2], [3, 3]])
        #expect(backlog.add([Self.row(6)], [6]).isEmpty && backlog.isBehind)
        #expect(backlog.confirm(upTo: 2).isEmpty)
        #expect(Self.told(backlog.confirm(upTo: 3)) == [[4, 4]])
        // The disk is full again: what was given comes again.
        backlog.stall()
        #expect(Self.told(backlog.resume()) == [[4, 4]])
        #expect(Self.told(backlog.confirm(upTo: 4)) == [[5, 5], [6, 6]])
        #expect(!backlog.isBehind)
        #expect(Self.told(backlog.add([Self.row(7)], [7])) == [[7, 7]])
        #expect(backlog.confirm(upTo: 7).isEmpty && backlog.rowCount == 0)
    }

    @Test("a backlog is full at its maximum, until half of it is stored")
    func full() {
        var backlog = RowBacklog(byteCountMax: 2_600)
        backlog.stall()
        for number in 1...4 as ClosedRange<UInt64> {
            #expect(!backlog.isFull(false))
            _ = backlog.add([Self.row(number, byteCount: 200)], [number])
        }
        #expect(backlog.isFull(false))
        #expect(backlog.resume().count == 4 && !backlog.isFull(true), "the journal has them all")
        backlog.stall()
        #expect(backlog.isFull(true))
        #expect(backlog.confirm(upTo: 2).isEmpty)
        #expect(backlog.isFull(true) && !backlog.isFull(false))
        #expect(backlog.confirm(upTo: 3).isEmpty && !backlog.isFull(true))
    }
}
