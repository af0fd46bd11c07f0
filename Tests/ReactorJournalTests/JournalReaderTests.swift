import Testing

@testable import ReactorJournal

/// Drives ``BatchTable``.
@Suite("Reading a journal")
struct JournalReaderTests {
    @Test("rows are read back as they were appended")
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
        "J51: a flipped bit in any row is reported with file, row, expected and actual value",
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

    @Test("J51: a flipped bit anywhere in the file is refused, or does not change the rows")
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
        "J53: a missing, doubled, moved or older row is named",
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
        try rig.alter(sql)
        #expect(failure { _ = try rig.rows() }?.damage?.row == row)
    }

    @Test("J54: rows of another journal are refused")
    func otherInstance() throws {
        let ours = try JournalRig.closed(2)
        let theirs = try JournalRig.closed(2)
        let sql = """
            ATTACH '\(theirs.path)/journal.sqlite' AS theirs;
            DELETE FROM main.meta; INSERT INTO main.meta SELECT * FROM theirs.meta;
            """
        try ours.other().execute(sql)
        #expect(failure { _ = try ours.rows() }?.damage?.row == 1)
    }

    @Test("reading starts after any row, and refuses one with another checksum than expected")
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
