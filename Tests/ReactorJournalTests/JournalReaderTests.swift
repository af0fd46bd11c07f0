import GRDB
import Testing

@testable import ReactorJournal

@Suite("reading a journal")
struct JournalReaderTests {
    @Test("rows come back as they were handed over")
    func rows() throws {
        let rows = try JournalRig.closed(600).rows()
        #expect(rows.map(\.number) == Array(1...600))
        for row in rows {
            #expect(row.deltas == JournalRig.deltas(row.number))
            #expect(row.facts == JournalRig.facts(row.number))
            #expect(row.after == (row.number - 1) * 2 && row.sequence == row.number * 2)
        }
    }

    @Test(
        "J51: a flipped bit in any row is named, with file, row, expected and got",
        arguments: [1, 7, 20])
    func flippedRow(number: Int) throws {
        let rig = try JournalRig.closed(20)
        try rig.flip("the deltas of row \(number)the")
        let reader = try JournalReader(rig.directory())
        for good in 1..<number { #expect(try reader.next()?.number == UInt64(good)) }
        let damage = failure { _ = try reader.next() }?.damage
        #expect(damage?.row == UInt64(number))
        #expect(damage?.file == rig.path + "/journal.sqlite")
        #expect(damage?.expected.hasPrefix("checksum ") == true)
        #expect(damage?.got != damage?.expected)
        #expect(failure { _ = try reader.next() }?.damage == damage, "it is skipped")
    }

    @Test("J51: a flipped bit anywhere in the file is refused, or changes nothing that is read")
    func flippedAnywhere() throws {
        let rig = try JournalRig.closed(40)
        let good = try rig.rows()
        let bytes = rig.bytes(of: JournalFile.name)
        var refused = 0
        for offset in stride(from: 0, to: bytes.count, by: 23) {
            var flipped = bytes
            flipped[offset] ^= 1 << UInt8(offset % 8)
            try rig.forgetCaches()
            try rig.set(JournalFile.name, to: flipped)
            do {
                _ = try JournalFile.prepare(in: rig.directory(), tuning: rig.tuning)
                #expect(try rig.rows() == good, "byte \(offset)")
            } catch {
                #expect(error is JournalError, "byte \(offset): \(error)")
                refused += 1
            }
        }
        #expect(refused > good.count)
    }

    @Test(
        "J53: a row that is gone, doubled, moved or of another time is named",
        arguments: [
            ("DELETE FROM batch WHERE number = 5", 5),
            ("DELETE FROM batch WHERE number > 8", 9),
            ("DELETE FROM batch", 1),
            ("UPDATE batch SET number = 50 WHERE number = 9", 9),
            ("UPDATE batch SET number = 100 WHERE number = 3", 3),
            ("UPDATE batch SET time = time + 1 WHERE number = 4", 4),
            ("UPDATE batch SET chain = 0 WHERE number = 6", 6),
            ("UPDATE batch SET deltas = 'text' WHERE number = 2", 2),
            (
                "UPDATE batch SET facts = (SELECT facts FROM batch WHERE number = 1) WHERE number = 8",
                8
            ),
        ])
    func planted(sql: String, row: UInt64) throws {
        let rig = try JournalRig.closed(10)
        try DatabaseQueue(path: rig.path + "/journal.sqlite").write { try $0.execute(sql: sql) }
        #expect(failure { _ = try rig.rows() }?.damage?.row == row)
    }

    @Test("J54: rows of another instance do not join")
    func otherInstance() throws {
        let ours = try JournalRig.closed(2)
        let theirs = try JournalRig.closed(2)
        let sql = """
            ATTACH '\(theirs.path)/journal.sqlite' AS theirs;
            DELETE FROM main.meta; INSERT INTO main.meta SELECT * FROM theirs.meta;
            """
        try DatabaseQueue(path: ours.path + "/journal.sqlite").writeWithoutTransaction {
            try $0.execute(sql: sql)
        }
        #expect(failure { _ = try ours.rows() }?.damage?.row == 1)
    }

    @Test("reading starts behind any row, and refuses one whose checksum is not the expected")
    func behind() throws {
        let rig = try JournalRig.closed(10)
        let rows = try rig.rows()
        let reader = try JournalReader(rig.directory(), behind: rows[3].position)
        #expect(try reader.next() == rows[4])
        #expect(try JournalReader(rig.directory(), behind: 7).next() == rows[7])
        var other = rows[3].position
        other.chain ^= 1
        #expect(failure { _ = try JournalReader(rig.directory(), behind: other) }?.damage?.row == 4)
        #expect(failure { _ = try JournalReader(rig.directory(), behind: 11) }?.damage?.row == 11)
    }
}
