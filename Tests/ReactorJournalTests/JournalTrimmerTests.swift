import GRDB
import ReactorThreads
import Testing

@testable import ReactorJournal

@Suite("trimming")
struct JournalTrimmerTests {
    private func trim(
        _ journal: SQLiteJournal, _ rig: JournalRig, behind number: UInt64,
        keeping retention: JournalRetention = JournalRetention()
    ) -> Result<JournalTrim, JournalError>? {
        var result: Result<JournalTrim, JournalError>?
        journal.trim(behind: number, keeping: retention) { result = $0 }
        rig.run { result != nil }
        return result
    }

    @Test("rows behind a snapshot go, a few at a time, and the chain goes on from the last of them")
    func trims() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 7
        let journal = try rig.open()
        rig.append(40, to: journal)
        let last = try rig.rows()[29].position
        #expect(
            trim(journal, rig, behind: 30) == .success(JournalTrim(rowCount: 30, anchor: last)))
        #expect(trim(journal, rig, behind: 20) == .success(JournalTrim(rowCount: 0, anchor: last)))
        #expect(try rig.rows().map(\.number) == Array(31...40))
        #expect(trim(journal, rig, behind: 99).flatMap { try? $0.get().rowCount } == 10)
        rig.append(2, to: journal)
        journal.close()
        let again = try rig.open()
        #expect(again.lastNumber == 42)
        again.close()
        #expect(try rig.rows().map(\.number) == [41, 42])
    }

    @Test("what is young enough, or fits into what is kept, stays")
    func keeps() throws {
        let rig = JournalRig()
        let time = Guarded<Int64>(0)
        rig.tuning.now = {
            time.withLock {
                $0 += 1_000
                return $0
            }
        }
        let journal = try rig.open()
        rig.append(20, to: journal)
        let aged = trim(
            journal, rig, behind: 20, keeping: JournalRetention(duration: .seconds(5)))
        #expect(aged.flatMap { try? $0.get().rowCount } == 14)
        // because each row has about 40 bytes
        let sized = trim(journal, rig, behind: 20, keeping: JournalRetention(byteCount: 100))
        #expect(sized.flatMap { try? $0.get().anchor.number } == 18)
        journal.close()
    }

    @Test("J72: rot in an old row is found before it is deleted, and nothing from it on is deleted")
    func rot() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 4
        let journal = try rig.open()
        rig.append(20, to: journal)
        try DatabaseQueue(path: rig.path + "/journal.sqlite").write {
            try $0.execute(sql: "UPDATE batch SET facts = x'00' WHERE number = 11")
        }
        guard case .failure(let error)? = trim(journal, rig, behind: 20) else {
            Issue.record("a rotten row was deleted")
            return
        }
        #expect(error.damage?.row == 11)
        journal.close()
        let reader = try JournalReader(rig.directory())
        #expect(reader.anchor.number == 8)
        #expect(failure { try reader.verifyRest() }?.damage?.row == 11)
    }

    @Test("commits go on while rows are trimmed")
    func together() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 2
        let journal = try rig.open()
        rig.append(60, to: journal)
        var isDone = false
        journal.trim(behind: 60, keeping: JournalRetention()) { _ in isDone = true }
        while !isDone { rig.append(1, to: journal) }
        journal.close()
        #expect(rig.failures.isEmpty)
        #expect(try rig.rows().first?.number == 61)
    }
}
