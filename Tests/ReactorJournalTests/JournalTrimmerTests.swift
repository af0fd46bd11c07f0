import ReactorThreads
import Testing

@testable import ReactorJournal

@Suite("Trimming")
struct JournalTrimmerTests {
    @Test("covered rows are deleted a few at a time, and the chain continues from the last of them")
    func trims() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 7
        let journal = try rig.open()
        rig.append(40, to: journal)
        let last = try rig.rows()[29].position
        #expect(
            rig.trim(journal, behind: 30) == .success(JournalTrim(rowCount: 30, anchor: last)))
        #expect(rig.trim(journal, behind: 20) == .success(JournalTrim(rowCount: 0, anchor: last)))
        #expect(try rig.rows().map(\.number) == Array(31...40))
        #expect(rig.trim(journal, behind: 99).flatMap { try? $0.get().rowCount } == 10)
        rig.append(2, to: journal)
        journal.close()
        let again = try rig.open()
        #expect(again.lastNumber == 42)
        again.close()
        #expect(try rig.rows().map(\.number) == [41, 42])
    }

    @Test("rows that are young enough and fit into the retained bytes stay")
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
        let aged = rig.trim(
            journal, behind: 20,
            keeping: JournalRetention(duration: .seconds(5), byteCount: .max))
        #expect(aged.flatMap { try? $0.get().rowCount } == 14)
        // Each row has about 40 bytes.
        let sized = rig.trim(
            journal, behind: 20,
            keeping: JournalRetention(duration: .seconds(60), byteCount: 100))
        #expect(sized.flatMap { try? $0.get().anchor.number } == 18)
        journal.close()
    }

    @Test("the retained rows are the same after each trim and after a restart")
    func scans() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 3
        var journal = try rig.open()
        let kept = JournalRetention(duration: .seconds(Int64.max), byteCount: 5_000)
        func anchor() -> UInt64? {
            rig.trim(journal, behind: .max, keeping: kept).flatMap { try? $0.get().anchor.number }
        }
        for round in 1...12 as ClosedRange<UInt64> {
            rig.append(3, to: journal, padding: Int(round) * 150)
            let sizes = try rig.rows().map { ($0.number, StoredRow($0).byteCount) }
            var (rest, expected) = (5_000, sizes.first.map { $0.0 - 1 } ?? 0)
            for (number, size) in sizes.reversed() {
                rest -= size
                if rest < 0 {
                    expected = number
                    break
                }
            }
            #expect(anchor() == expected, "round \(round)")
            // A trim by row number also deletes rows that the limit in bytes would keep.
            if round.isMultiple(of: 4) { _ = rig.trim(journal, behind: journal.lastNumber - 2) }
            guard round == 6 else { continue }
            journal.close()
            journal = try rig.open()
        }
        journal.close()
    }

    @Test("the space of deleted rows counts as free if the log has its full size")
    func room() throws {
        let rig = JournalRig()
        rig.tuning.grownByteCount = JournalTuning().grownByteCount
        let journal = try rig.open()
        rig.append(40, to: journal, padding: 1 << 20)
        #expect(rig.trim(journal, behind: 40).flatMap { try? $0.get().rowCount } == 40)
        #expect(try JournalSpace(in: rig.directory()).freeByteCount >= 32 << 20)
        journal.close()
        // Without a log, the allocation of a new one needs more space than is free.
        try rig.forgetCaches()
        #expect(try JournalSpace(in: rig.directory()).freeByteCount == 0)
    }

    @Test(
        "J72: damage in an old row is found before its deletion, and no row from it on is deleted")
    func rot() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 4
        let journal = try rig.open()
        rig.append(20, to: journal)
        try rig.alter("UPDATE batch SET facts = x'00' WHERE number = 11")
        guard case .failure(let error)? = rig.trim(journal, behind: 20) else {
            Issue.record("a rotten row was deleted")
            return
        }
        #expect(error.damage?.row == 11)
        journal.close()
        let reader = try JournalReader(rig.directory())
        #expect(reader.anchor.number == 8)
        #expect(failure { try reader.verifyRest() }?.damage?.row == 11)
    }

    @Test("commits continue while rows are trimmed")
    func together() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 2
        let journal = try rig.open()
        rig.append(60, to: journal)
        var isDone = false
        journal.trim(behind: 60, keeping: .nothing) { _ in isDone = true }
        while !isDone { rig.append(1, to: journal) }
        journal.close()
        #expect(rig.failures.isEmpty)
        #expect(try rig.rows().first?.number == 61)
    }

    @Test("an unlimited retention keeps all rows")
    func forever() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(5, to: journal)
        let kept = rig.trim(
            journal, behind: 5,
            keeping: JournalRetention(duration: .seconds(Int64.max), byteCount: .max))
        #expect(kept.flatMap { try? $0.get().rowCount } == 0)
        journal.close()
    }

    @Test("trimming ends early on request, and returns its progress")
    func stops() throws {
        let rig = try JournalRig.closed(20)
        rig.tuning.trimmedRowsMax = 3
        let trimmer = JournalTrimmer(
            database: try JournalFile.writer(in: rig.directory(), durability: .strict),
            directory: try rig.directory(), gate: JournalGate(), tuning: rig.tuning,
            synchronizesLog: true)
        var count = 0
        let trim = try trimmer.trim(behind: 20, keeping: .nothing) { _ in
            count += 1
            return count < 2
        }
        #expect(trim.rowCount == 6 && trim.anchor.number == 6)
    }

    @Test("trimming makes checkpoints, so the log stays short")
    func checkpoints() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 1
        rig.tuning.trimsPerCheckpoint = 4
        let count = Guarded(0)
        rig.tuning.faults.checkpoint = { () throws(JournalError) in count.withLock { $0 += 1 } }
        let journal = try rig.open()
        rig.append(40, to: journal)
        #expect(rig.trim(journal, behind: 40).flatMap { try? $0.get().rowCount } == 40)
        journal.close()
        #expect(count.withLock { $0 } >= 10)
    }

    @Test("a reader overtaken by trimming gets an error that is not damage")
    func overtaken() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        for _ in 1...600 { rig.appendNext(journal) }
        rig.run { rig.turns.last == 600 }
        let reader = try JournalReader(rig.directory())
        #expect(try reader.next()?.number == 1)
        _ = rig.trim(journal, behind: 590)
        let file = rig.path + "/journal.sqlite"
        let error = failure { try reader.verifyRest() }
        #expect(error == .trimmed(file: file, upTo: 590))
        #expect(reader.position.number < 590)
        #expect(
            failure { _ = try JournalReader(rig.directory(), behind: 3) }
                == .trimmed(file: file, upTo: 590))
        #expect(try JournalReader(rig.directory(), behind: 590).next()?.number == 591)
        journal.close()
    }
}
