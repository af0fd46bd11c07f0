import ReactorBytes
import TestPrograms
import Testing

@testable import ReactorJournal

/// Rows that are numbered before they are stored.
@Suite("Rows numbered elsewhere")
struct RowNumberingTests {
    private static func batch(_ number: UInt64, epoch: UInt64 = 7, byteCount: Int = 3) -> Batch {
        Batch(
            turn: number, epoch: epoch, after: number - 1, sequence: number,
            deltas: ByteSlice(
                [1] + [UInt8](repeating: UInt8(number & 0x7f), count: byteCount),
                range: 1..<byteCount + 1), facts: [9, UInt8(number & 0x7f)])
    }

    private static func instance(_ rig: JournalRig) throws -> JournalInstance {
        let directory = try rig.directory()
        try SQLiteJournal.prepare(directory)
        return try JournalReader(directory).instance
    }

    @Test("a row numbered elsewhere has the number, chain and content of the committer's own row")
    func same() throws {
        let (first, second) = (JournalRig(), JournalRig())
        let instance = try Self.instance(first)
        try SQLiteJournal.prepare(second.directory(), as: instance)
        let own = try first.open()
        for number in 1...5 as ClosedRange<UInt64> { own.append(Self.batch(number)) }
        first.run { first.turns.last == 5 }
        own.close()
        let written = try first.rows()
        var numbering = RowNumbering(after: .beginning(of: instance))
        let rows = try written.map { try numbering.row(of: Self.batch($0.number), at: $0.time) }
        #expect(rows == written)
        let other = try second.open()
        other.store(rows, log: [5, 77, 1])
        second.run { second.turns.last == 5 }
        #expect(other.lastNumber == 5)
        other.close()
        #expect(try second.rows() == written)
        #expect(try SQLiteJournal.logWords(in: second.directory()) == [5, 77, 1])
        #expect(try SQLiteJournal.logWords(in: first.directory()) == nil)
    }

    @Test("the time of a row is not before that of the row before, whichever clock is behind")
    func times() throws {
        var numbering = RowNumbering(after: .beginning(seed: 3))
        let times = try [500, 400, 600].enumerated().map { index, time in
            try numbering.row(of: Self.batch(UInt64(index) + 1), at: time).time
        }
        #expect(times == [500, 500, 600])
    }

    @Test("a batch that does not follow gets no row, and given up rows leave their numbers")
    func gaps() throws {
        var numbering = RowNumbering(after: .beginning(seed: 3))
        _ = try numbering.row(of: Self.batch(1), at: 1)
        let position = numbering.position
        _ = try numbering.row(of: Self.batch(2), at: 1)
        #expect(throws: JournalError.self) { try numbering.row(of: Self.batch(2), at: 1) }
        numbering.goBack(to: position)
        #expect(try numbering.row(of: Self.batch(2), at: 1).number == 2)
        #expect(try numbering.row(of: Self.batch(9, epoch: 8), at: 1).number == 3)
    }

    @Test("stored rows go on after a restart, and the words are those of the last rows")
    func restart() throws {
        let rig = JournalRig()
        var numbering = RowNumbering(after: .beginning(of: try Self.instance(rig)))
        var journal = try rig.open(.relaxed)
        for number in 1...3 as ClosedRange<UInt64> {
            journal.store([try numbering.row(of: Self.batch(number), at: 5)], log: [number])
        }
        rig.run { rig.turns.last == 3 }
        journal.close()
        #expect(try SQLiteJournal.logWords(in: rig.directory()) == [3])
        journal = try rig.open(.relaxed)
        journal.store([try numbering.row(of: Self.batch(4), at: 4)], log: [4, 4])
        rig.run { rig.turns.last == 4 }
        journal.close()
        #expect(try rig.rows().map(\.number) == [1, 2, 3, 4])
        #expect(try rig.rows().map(\.time) == [5, 5, 5, 5])
        #expect(try SQLiteJournal.logWords(in: rig.directory()) == [4, 4])
        #expect(rig.failures.isEmpty)
    }

    @Test("rows are durable at once, or under `relaxed` once they are synchronized")
    func durable() throws {
        for durability in [JournalDurability.strict, .relaxed] {
            let rig = JournalRig()
            var numbering = RowNumbering(after: .beginning(of: try Self.instance(rig)))
            let journal = try rig.open(durability)
            journal.store([try numbering.row(of: Self.batch(1), at: 5)], log: [1])
            rig.run { rig.turns.last == 1 }
            #expect(journal.durableNumber == (durability == .strict ? 1 : 0))
            journal.synchronize()
            journal.store([try numbering.row(of: Self.batch(2), at: 5)], log: [2])
            rig.run { rig.turns.last == 2 }
            #expect(journal.durableNumber == (durability == .strict ? 2 : 1))
            journal.close()
        }
    }

    @Test("a row with another chain breaks the journal, and nothing of its commit is stored")
    func forked() throws {
        let rig = JournalRig()
        var numbering = RowNumbering(after: .beginning(of: try Self.instance(rig)))
        let journal = try rig.open()
        journal.store([try numbering.row(of: Self.batch(1), at: 5)], log: [1])
        rig.run { rig.turns.last == 1 }
        var row = try numbering.row(of: Self.batch(2), at: 5)
        row.facts = [1, 2, 3]
        journal.store([row], log: [2])
        rig.run { !rig.failures.isEmpty }
        guard case .broken(turn: 2, _)? = rig.failures.first else {
            Issue.record("\(rig.failures)")
            return
        }
        journal.close()
        #expect(try rig.rows().count == 1)
        #expect(try SQLiteJournal.logWords(in: rig.directory()) == [1])
    }

    @Test("a copy for another daemon of the same history has no row of epoch 0")
    func copies() throws {
        let rig = JournalRig()
        var numbering = RowNumbering(after: .beginning(of: try Self.instance(rig)))
        let journal = try rig.open()
        journal.store([try numbering.row(of: Self.batch(1), at: 5)], log: [1, 8])
        rig.run { rig.turns.last == 1 }
        let path = rig.home.path("copy")
        let backup = try JournalBackup(of: rig.directory(), into: path, beginsEpoch: false)
        let copy = try DataDirectory(at: path)
        #expect(try JournalReader(copy).verifyRest() == backup.end)
        #expect(backup.end == numbering.position)
        #expect(try SQLiteJournal.logWords(in: copy) == [1, 8])
        // A copy that begins an epoch leaves the log.
        let other = rig.home.path("other")
        _ = try JournalBackup(of: rig.directory(), into: other)
        #expect(try SQLiteJournal.logWords(in: DataDirectory(at: other)) == nil)
        journal.close()
    }

    // MARK: Coding

    @Test("rows are read from bytes as they were written, one after another")
    func coding() throws {
        var numbering = RowNumbering(after: .beginning(seed: 3))
        var bytes: [UInt8] = []
        let rows = try (1...4 as ClosedRange<UInt64>).map { number in
            try numbering.row(
                of: Self.batch(number, byteCount: number % 2 == 0 ? 5_000 : 0), at: -7)
        }
        for row in rows { row.encode(into: &bytes) }
        #expect(bytes.count < 400, "similar bytes are compressed")
        var offset = 0
        var position = JournalPosition.beginning(seed: 3)
        for row in rows {
            let read = try JournalRow(encoded: bytes.span, at: &offset, in: "the log")
            try read.verify(behind: position, in: "the log")
            position = read.position
            #expect(read == row)
        }
        #expect(offset == bytes.count)
    }

    @Test("a row that is cut off anywhere is refused")
    func cut() throws {
        var numbering = RowNumbering(after: .beginning(seed: 3))
        var bytes: [UInt8] = []
        try numbering.row(of: Self.batch(300, epoch: 9), at: 7).encode(into: &bytes)
        for count in bytes.indices {
            var offset = 0
            #expect(throws: JournalError.self) {
                try JournalRow(encoded: Array(bytes[..<count]).span, at: &offset, in: "the log")
            }
        }
    }

    @Test("any byte changed in a row is found by its chain, or is refused")
    func flipped() throws {
        var numbering = RowNumbering(after: .beginning(seed: 3))
        var bytes: [UInt8] = []
        try numbering.row(of: Self.batch(1, byteCount: 300), at: 7).encode(into: &bytes)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x11
            #expect(throws: JournalError.self, "byte \(index)") {
                var offset = 0
                let row = try JournalRow(encoded: changed.span, at: &offset, in: "the log")
                try row.verify(behind: .beginning(seed: 3), in: "the log")
                // Bytes behind the row belong to no row.
                if offset != bytes.count {
                    _ = try JournalRow(encoded: changed.span, at: &offset, in: "the log")
                }
            }
        }
    }
}
