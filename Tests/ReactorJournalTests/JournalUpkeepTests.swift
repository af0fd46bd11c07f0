import ReactorThreads
import Testing

@testable import ReactorJournal

@Suite("upkeep")
struct JournalUpkeepTests {
    @Test("checkpoints keep the log from growing without end")
    func bounded() throws {
        let rig = JournalRig()
        rig.tuning.checkpointByteCount = 20_000
        rig.tuning.restartByteCount = 80_000
        let journal = try rig.open()
        rig.append(400, to: journal, padding: 3_000)
        let count = try rig.directory().byteCount(of: JournalFile.logName) ?? 0
        #expect(count < 800_000, "of 400 commits of more than a page each")
        journal.close()
        #expect(try rig.rows().count == 400)
    }

    @Test("J63: no room for a checkpoint loses nothing, and the next one makes up for it")
    func fullDisk() throws {
        let rig = JournalRig()
        let tries = Guarded(0)
        let bell = Bell()
        rig.tuning.checkpointByteCount = 4_000
        rig.tuning.faults.checkpoint = { () throws(JournalError) in
            let count = tries.withLock {
                $0 += 1
                return $0
            }
            bell.ring()
            guard count <= 3 else { return }
            throw .database(
                DatabaseFailure(
                    file: "f", purpose: "checkpointing", code: 13, systemCode: 0, message: "m"))
        }
        let journal = try rig.open()
        while tries.withLock({ $0 }) < 6 {
            rig.append(1, to: journal)
            bell.wait()
        }
        journal.close()
        #expect(rig.failures.isEmpty)
        #expect(try rig.rows().last?.number == rig.turns.last)
    }
}
