import Foundation
import ReactorBytes
import TestPrograms
import Testing

@testable import ReactorJournal

@Suite("Stored rows")
struct StoredRowTests {
    /// A closed journal whose rows have 60 similar frames each.
    private func filled(_ rig: JournalRig, rows: UInt64 = 5) throws {
        let journal = try rig.open()
        for number in 1...rows {
            let frames = (0..<60).flatMap { Array("row \(number), frame \($0 % 3)".utf8) }
            journal.append(
                Batch(
                    turn: number, epoch: 7, after: number - 1, sequence: number,
                    deltas: ByteSlice([9] + frames, range: 1..<frames.count + 1),
                    facts: frames + frames))
        }
        rig.run { rig.turns.last == rows }
        journal.close()
    }

    @Test("rows with repetitive frames take less space, and are read unchanged")
    func packed() throws {
        let rig = JournalRig()
        try filled(rig)
        let rows = try rig.rows()
        #expect(rows.count == 5)
        for row in rows {
            let frames = (0..<60).flatMap { Array("row \(row.number), frame \($0 % 3)".utf8) }
            #expect(row.deltas == frames && row.facts == frames + frames)
        }
        let stored = try rig.other().integer(
            "SELECT sum(length(deltas) + length(facts)) FROM batch")
        let byteCount = rows.reduce(0) { $0 + $1.deltas.count + $1.facts.count }
        #expect(Int(try #require(stored)) * 8 < byteCount)
    }

    @Test(
        "J51: a damaged compressed row is named",
        arguments: [
            "deltaBytes = deltaBytes + 1", "factBytes = factBytes - 1", "deltaBytes = NULL",
            "factBytes = -1", "deltaBytes = 'many'", "factBytes = 4000000000000",
            "deltas = substr(deltas, 2)", "facts = zeroblob(length(facts))", "deltas = facts",
        ])
    func damaged(change: String) throws {
        let rig = JournalRig()
        try filled(rig)
        try rig.alter("UPDATE batch SET \(change) WHERE number = 3")
        #expect(failure { _ = try rig.rows() }?.damage?.row == 3)
    }

    @Test("a batch that does not follow the last row is refused")
    func follows() throws {
        let position = JournalPosition(number: 4, epoch: 7, sequence: 9, time: 1, chain: 3)
        let batch = Batch(
            turn: 1, epoch: 7, after: 8, sequence: 10)
        let error = failure { _ = try StoredRow(batch, behind: position, at: 2, in: "file") }
        #expect(error?.damage?.row == 5 && error?.damage?.expected == "a batch after 9")
    }
}
