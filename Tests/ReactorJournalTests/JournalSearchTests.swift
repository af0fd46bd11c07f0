import ReactorBytes
import Testing

@testable import ReactorJournal

@Suite("Finding a sequence")
struct JournalSearchTests {
    /// Rows of three epochs, with up to three transactions each; the first rows are trimmed.
    private func journal(trimmedBehind number: UInt64) throws -> (SQLiteJournal, JournalRig) {
        let rig = JournalRig()
        let journal = try rig.open()
        for (epoch, after) in [(9, 0), (3, 100), (5, 7)] as [(UInt64, UInt64)] {
            var after = after
            for count in [2, 0, 1, 3, 0, 0, 1, 1, 2, 3, 0] as [UInt64] {
                journal.append(
                    Batch(
                        turn: journal.lastNumber + 1, epoch: epoch, after: after,
                        sequence: after + count))
                after += count
            }
        }
        rig.run { rig.turns.last == 33 }
        if number > 0 { _ = rig.trim(journal, behind: number) }
        return (journal, rig)
    }

    @Test(
        "reading starts at the first transaction after any sequence, or reports that it was trimmed",
        arguments: [0, 1, 5, 10, 11, 12, 20, 33] as [UInt64])
    func every(trimmed: UInt64) throws {
        let (_, all) = try journal(trimmedBehind: 0)
        let rows = try all.rows()
        let (journal, rig) = try journal(trimmedBehind: trimmed)
        let file = rig.path + "/journal.sqlite"
        for epoch in [9, 3, 5] as [UInt64] {
            let known = rows.filter { $0.epoch == epoch }
            let (begin, end) = (known[0].after, known[known.count - 1].sequence)
            for sequence in 0...120 as ClosedRange<UInt64> {
                let next = known.first { $0.sequence > sequence }
                var found: JournalRow?
                let error = failure {
                    found = try JournalReader(
                        rig.directory(), ofEpoch: epoch, after: sequence
                    ).next()
                }
                let absent = JournalError.absent(file: file, epoch: epoch, sequence: sequence)
                let gone = JournalError.trimmed(file: file, upTo: trimmed)
                let comment: Comment = "sequence \(sequence) of \(epoch)"
                if !(begin...end).contains(sequence) {
                    // The journal does not know which transactions it has trimmed.
                    #expect(error == absent || trimmed > 0 && error == gone, comment)
                } else if let next {
                    #expect(
                        next.number > trimmed ? found?.number == next.number : error == gone,
                        comment)
                } else if known[known.count - 1].number >= trimmed {
                    #expect(error == nil && found?.epoch != epoch, comment)
                } else {
                    #expect(error == gone, comment)
                }
            }
        }
        journal.close()
    }

    @Test("a trimmed transaction is distinguished from one that never existed")
    func named() throws {
        let (journal, rig) = try journal(trimmedBehind: 15)
        let file = rig.path + "/journal.sqlite"
        func error(_ epoch: UInt64, _ sequence: UInt64) -> JournalError? {
            failure {
                _ = try JournalReader(rig.directory(), ofEpoch: epoch, after: sequence)
            }
        }
        let trimmed = JournalError.trimmed(file: file, upTo: 15)
        #expect(error(9, 3) == trimmed && error(3, 101) == trimmed)
        #expect(error(5, 6) == .absent(file: file, epoch: 5, sequence: 6))
        #expect(error(5, 21) == .absent(file: file, epoch: 5, sequence: 21))
        #expect(error(3, 106) == nil && error(5, 20) == nil)
        journal.close()
    }

    @Test("a missing row on the way is damage")
    func gap() throws {
        let rig = try JournalRig.closed(20)
        let database = try JournalFile.writer(in: rig.directory(), durability: .strict)
        try database.commit("planting") {
            try $0.execute("DELETE FROM batch WHERE number = 10")
        }
        let error = failure {
            _ = try JournalReader(rig.directory(), ofEpoch: 7, after: 12)
        }
        #expect(error?.damage?.row == 10)
    }
}
