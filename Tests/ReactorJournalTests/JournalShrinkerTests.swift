import Testing

@testable import ReactorJournal

@Suite("Empty pages")
struct JournalShrinkerTests {
    private func rig() -> JournalRig {
        let rig = JournalRig()
        rig.tuning.keptFreeByteCount = 256 << 10
        rig.tuning.shrunkPagesMax = 16
        rig.tuning.checkpointByteCount = 64 << 10
        return rig
    }

    @Test("the pages of trimmed rows return to the file system while rows are appended")
    func shrinks() throws {
        let rig = rig()
        let journal = try rig.open()
        rig.append(40, to: journal, padding: 100_000)
        _ = rig.trim(journal, behind: 2)
        let before = try #require(try rig.directory().byteCount(of: JournalFile.name))
        #expect(before > 3_000_000)
        _ = rig.trim(journal, behind: 38)
        var after = before
        while after > 1_500_000 {
            rig.append(1, to: journal, padding: 1_000)
            after = try #require(try rig.directory().byteCount(of: JournalFile.name))
        }
        journal.close()
        #expect(rig.failures.isEmpty)
        #expect(try rig.rows().first?.number == 39)
        #expect(try JournalReader(rig.directory()).verifyRest().number == rig.turns.last)
    }

    @Test("some empty pages stay for further rows, and a file that cannot shrink is not changed")
    func keeps() throws {
        let rig = rig()
        let journal = try rig.open()
        rig.append(12, to: journal, padding: 100_000)
        _ = rig.trim(journal, behind: 12)
        journal.close()
        let directory = try rig.directory()
        func shrinker(_ tuning: JournalTuning) throws -> JournalShrinker {
            JournalShrinker(
                database: try JournalFile.writer(in: directory, durability: .strict),
                directory: directory, gate: JournalGate(), tuning: tuning,
                synchronizesLog: true)
        }
        let shrinker = try shrinker(rig.tuning)
        while try shrinker.step() {}
        #expect(try !shrinker.isDue())
        #expect(try !shrinker.step())
        _ = try shrinker.database.checkpoint(.truncate)
        let byteCount = try #require(try directory.byteCount(of: JournalFile.name))
        #expect((256 << 10...400 << 10).contains(byteCount))
    }
}
