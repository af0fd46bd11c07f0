import ReactorBytes
import ReactorThreads
import Testing

@testable import ReactorJournal

@Suite("Upkeep")
struct JournalUpkeepTests {
    @Test("checkpoints bound the size of the log", .timeLimit(.minutes(10)))
    func bounded() throws {
        let rig = JournalRig()
        let begun = Guarded(0)
        let bell = Bell()
        rig.tuning.checkpointByteCount = 20_000
        rig.tuning.restartByteCount = 80_000
        rig.tuning.faults.checkpoint = { () throws(JournalError) in
            begun.withLock { $0 += 1 }
            bell.ring()
        }
        let journal = try rig.open()
        for _ in 0..<40 {
            let count = begun.withLock { $0 }
            // On a busy machine the thread of checkpoints may get no time, and then the log grows.
            rig.append(10, to: journal, padding: 3_000)
            while begun.withLock({ $0 }) == count { bell.wait() }
        }
        let count = try rig.directory().byteCount(of: JournalFile.logName) ?? 0
        #expect(count < 800_000, "of 400 commits of more than a page each")
        journal.close()
        #expect(try rig.rows().count == 400)
    }

    @Test("J63: a checkpoint without room loses nothing, and the next one completes it")
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

    @Test("the extent read from the log's index equals SQLite's")
    func extent() throws {
        let rig = try JournalRig.closed(3)
        let database = try JournalFile.writer(in: rig.directory(), durability: .strict)
        let begin = try database.run("looking") { $0.logExtent }
        #expect(begin == LogExtent(frameCount: 0, checkpointedFrameCount: 0))
        for number in 1...5 {
            try database.commit("writing") {
                try $0.execute("PRAGMA user_version = \(number)")
            }
        }
        var extent = try database.run("looking") { $0.logExtent }
        #expect(extent == LogExtent(frameCount: 5, checkpointedFrameCount: 0))
        let log = try database.checkpoint(.passive)
        extent = try database.run("looking") { $0.logExtent }
        #expect(extent == log && log == LogExtent(frameCount: 5, checkpointedFrameCount: 5))
    }

    @Test("the log's index gets room before a commit, in more than one region")
    func reserved() throws {
        let rig = try JournalRig.closed(1)
        let database = try JournalFile.writer(in: rig.directory(), durability: .strict)
        _ = try database.run("looking") { $0.logExtent }
        #expect(try rig.directory().byteCount(of: "journal.sqlite-shm") == 32_768)
        try database.commit("writing", pageCount: 4_061) { _ in }
        #expect(try rig.directory().byteCount(of: "journal.sqlite-shm") == 32_768)
        try database.commit("writing", pageCount: 4_062) { _ in }
        #expect(try rig.directory().byteCount(of: "journal.sqlite-shm") == 65_536)
    }

    @Test("a long reader delays no commit, and is reported once")
    func held() throws {
        let rig = JournalRig()
        rig.tuning.checkpointByteCount = 4_000
        rig.tuning.restartByteCount = 40_000
        let journal = try rig.open()
        rig.append(2, to: journal)
        let other = try rig.other()
        try other.execute("BEGIN; SELECT * FROM batch")
        rig.append(80, to: journal, padding: 2_000)
        rig.run { !rig.alarms.isEmpty }
        try other.execute("ROLLBACK")
        guard case .logIsRead = try #require(rig.alarms.first) else {
            Issue.record("\(rig.alarms)")
            return
        }
        journal.close()
        #expect(rig.alarms.count == 1 && rig.failures.isEmpty)
        #expect(try rig.rows().count == 82)
    }

    @Test("J60: after a failed checkpoint no thread writes to the disk any more")
    func failed() throws {
        let rig = JournalRig()
        rig.tuning.checkpointByteCount = 4_000
        let broken = JournalError.database(
            DatabaseFailure(
                file: "f", purpose: "checkpointing", code: 1_034, systemCode: 5, message: "m"))
        rig.tuning.faults.checkpoint = { () throws(JournalError) in throw broken }
        let journal = try rig.open()
        rig.append(1, to: journal)
        rig.run { !rig.failures.isEmpty }
        #expect(rig.failures == [.broken(turn: 0, message: "\(broken)")])
        let files = [JournalFile.name, JournalFile.logName]
        let before = files.map { rig.bytes(of: $0) }
        rig.appendNext(journal)
        journal.append(
            Batch(turn: 9, epoch: 9, after: 0, sequence: 1))
        #expect(throws: JournalError.self) { try rig.directory().health.check() }
        journal.close()
        #expect(files.map { rig.bytes(of: $0) } == before)
        #expect(rig.turns == [1] && rig.failures.count == 1)
    }

    @Test("old snapshots are removed at once, however much is being trimmed")
    func snapshots() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 1
        let (isTrimming, goOn, isSeen) = (Bell(), Bell(), Bell())
        let count = Guarded(0)
        rig.tuning.faults.trim = {
            let count = count.withLock {
                $0 += 1
                return $0
            }
            if count == 1 {
                isTrimming.ring()
                goOn.wait()
            } else if count == 2 {
                isSeen.wait()
            }
        }
        let journal = try rig.open()
        for _ in 1...3 {
            rig.append(2, to: journal)
            _ = try SnapshotWriterTests.write(journal, rig).get()
        }
        var trims: [JournalTrim?] = []
        func trim(_ onRemoved: @escaping () -> Void) {
            journal.trimBehindSnapshots(keeping: .nothing, onRemoved: onRemoved) {
                trims.append(try? $0.get())
            }
        }
        trim {}
        isTrimming.wait()
        // The trim of four rows is in progress.
        rig.append(2, to: journal)
        _ = try SnapshotWriterTests.write(journal, rig).get()
        #expect(try SnapshotStore(rig.directory()).numbers() == [8, 6, 4])
        var isRemoved = false
        trim { isRemoved = true }
        goOn.ring()
        rig.run { isRemoved }
        #expect(try SnapshotStore(rig.directory()).numbers() == [8, 6])
        #expect(trims.isEmpty)
        isSeen.ring()
        rig.run { trims.count == 2 }
        #expect(trims.map { $0?.rowCount } == [4, 2])
        journal.close()
    }

    @Test(
        "a writer waits for trimming at its limit, and then continues",
        arguments: [JournalDurability.strict, .relaxed])
    func ceiling(durability: JournalDurability) throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 1
        rig.tuning.trimAheadByteCount = 20_000
        let (isTrimming, goOn) = (Bell(), Bell())
        let isHeld = Flag()
        isHeld.raise()
        rig.tuning.faults.trim = {
            guard isHeld.take() else { return }
            isTrimming.ring()
            goOn.wait()
        }
        let journal = try rig.open(durability)
        rig.append(4, to: journal)
        var isTrimmed = false
        journal.trim(behind: 4, keeping: .nothing) { _ in isTrimmed = true }
        isTrimming.wait()
        rig.append(2, to: journal, padding: 10_000)
        // Batches appended now wait until the trim is done.
        for _ in 1...5 { rig.appendNext(journal, padding: 10_000) }
        #expect(rig.turns.last == 6)
        #expect(try rig.rows().last?.number == 6)
        goOn.ring()
        rig.run { rig.turns.last == 11 && isTrimmed }
        journal.close()
        #expect(try rig.rows().map(\.number) == Array(5...11))
    }

    @Test("a journal that is closed while its writer waits for trimming stores all batches")
    func closedAtCeiling() throws {
        let rig = JournalRig()
        rig.tuning.trimmedRowsMax = 1
        rig.tuning.trimAheadByteCount = 1
        let (isTrimming, goOn) = (Bell(), Bell())
        let isHeld = Flag()
        isHeld.raise()
        rig.tuning.faults.trim = {
            guard isHeld.take() else { return }
            isTrimming.ring()
            goOn.wait()
        }
        let journal = try rig.open()
        rig.append(4, to: journal)
        journal.trim(behind: 4, keeping: .nothing) { _ in }
        isTrimming.wait()
        for _ in 1...3 { rig.appendNext(journal) }
        goOn.ring()
        journal.close()
        #expect(try rig.rows().last?.number == 7)
    }

    @Test("J55: each checkpoint stores the number of the last row in the file")
    func floor() throws {
        let rig = JournalRig()
        rig.tuning.checkpointByteCount = 5 * 4_000
        let journal = try rig.open()
        rig.append(5, to: journal)
        let database = try JournalFile.reader(in: rig.directory())
        let floor = try database.run("looking") { db in
            let meta = MetaTable(db, in: "f")
            return try meta.floor(of: meta.instance())
        }
        #expect(floor == 5)
        journal.close()
    }
}
