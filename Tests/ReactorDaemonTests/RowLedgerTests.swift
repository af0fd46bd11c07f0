import ReactorBytes
import ReactorCluster
import Testing

@testable import ReactorDaemon
@testable import ReactorJournal

@Suite("rows between a server and the log of its cluster")
struct RowLedgerTests {
    private let start = JournalPosition.beginning(seed: 9)

    private func batch(_ turn: UInt64, after: UInt64) -> Batch {
        Batch(
            turn: turn, epoch: 3, after: after, sequence: after + 1,
            deltas: ByteSlice([UInt8(turn), 1, 2]), facts: [4])
    }

    /// Rows of a leader, and their checksums before them.
    private func rows(_ count: UInt64) throws -> [(row: LogRow, behind: UInt64)] {
        let ledger = RowLedger(after: start)
        var rows: [(LogRow, UInt64)] = []
        for turn in 1...count {
            let behind = ledger.position.chain
            rows.append((try ledger.add(batch(turn, after: turn - 1), at: 5), behind))
        }
        return rows
    }

    @Test("a leader's rows wait until the log has them, and are returned with their turns")
    func leading() throws {
        let ledger = RowLedger(after: start)
        for turn in 1...3 as ClosedRange<UInt64> {
            let row = try ledger.add(batch(turn, after: turn - 1), at: 5)
            #expect(row.number == turn && row.chain == ledger.position.chain)
        }
        #expect(ledger.waitingCount == 3)
        #expect(ledger.confirm(upTo: 2).map(\.turn) == [1, 2])
        #expect(ledger.confirm(upTo: 2).isEmpty && ledger.waitingCount == 1)
        #expect(ledger.confirm(upTo: 9).map(\.row.number) == [3])
    }

    @Test("a batch that does not follow the last row is refused")
    func misplaced() throws {
        let ledger = RowLedger(after: start)
        _ = try ledger.add(batch(1, after: 0), at: 5)
        #expect(throws: JournalError.self) { try ledger.add(batch(2, after: 7), at: 5) }
    }

    @Test("rows of another leader are taken as they were decided, each once")
    func following() throws {
        let rows = try rows(3)
        let ledger = RowLedger(after: start)
        for (row, behind) in rows { #expect(ledger.isValid(row, behind: behind)) }
        let taken = ledger.take(rows.prefix(2).map(\.row)) + ledger.take([rows[2].row])
        #expect(taken.map(\.number) == [1, 2, 3] && taken.map(\.sequence) == [1, 2, 3])
        #expect(taken.map(\.facts) == [[4], [4], [4]])
        #expect(ledger.position == taken[2].position && ledger.take([]).isEmpty)
    }

    @Test("a row with another checksum, number or content, or with bytes behind it, is not valid")
    func invalid() throws {
        let (row, behind) = try rows(1)[0]
        let ledger = RowLedger(after: start)
        #expect(!ledger.isValid(row, behind: behind &+ 1))
        var changed = row
        changed.chain &+= 1
        #expect(!ledger.isValid(changed, behind: behind))
        changed = row
        changed.number = 2
        #expect(!ledger.isValid(changed, behind: behind))
        changed = row
        changed.bytes.append(0)
        #expect(!ledger.isValid(changed, behind: behind))
        for index in row.bytes.indices {
            changed = row
            changed.bytes[index] ^= 1
            #expect(!ledger.isValid(changed, behind: behind), "byte \(index)")
        }
        #expect(ledger.isValid(row, behind: behind))
    }

    @Test("rows that were given up are not taken for those of the log")
    func deposed() throws {
        let ledger = RowLedger(after: start)
        let own = try ledger.add(batch(1, after: 0), at: 5)
        #expect(ledger.isValid(own, behind: start.chain), "the log has the leader's own row")
        ledger.goBack(to: start)
        #expect(ledger.waitingCount == 0 && ledger.position == start)
        let (row, behind) = try rows(1)[0]
        #expect(ledger.isValid(row, behind: behind))
        #expect(ledger.take([row]).map(\.number) == [1])
    }

    @Test("the place in the log is known only for the row that was stored with it")
    func words() throws {
        let (row, origin) = (
            RowPosition(number: 4, chain: 8), RowPosition(number: 1, chain: 6)
        )
        let position = AppliedPosition(
            row: row, entry: LogPosition(number: 2, revision: 77), term: 5)
        let words = position.words(behind: origin)
        let end = JournalPosition(number: 4, epoch: 3, sequence: 4, time: 1, chain: 8)
        #expect(AppliedPosition(after: end, behind: origin, words: words) == position)
        var later = end
        later.number = 5
        #expect(AppliedPosition(after: later, behind: origin, words: words) == nil)
        let other = RowPosition(number: 1, chain: 7)
        #expect(AppliedPosition(after: end, behind: other, words: words) == nil)
        #expect(AppliedPosition(after: end, behind: origin, words: [2, 77, 5]) == nil)
    }
}
