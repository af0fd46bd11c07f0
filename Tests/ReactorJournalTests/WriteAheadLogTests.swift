import Testing

@testable import ReactorJournal

@Suite("The write-ahead log after a crash")
struct WriteAheadLogTests {
    private static let frame = 4_096 + 24

    /// A journal of ten rows after a crash of the machine; its log is not allocated in advance.
    private func crashed(_ durability: JournalDurability = .strict) throws -> JournalRig {
        let rig = JournalRig()
        rig.tuning.grownByteCount = 0
        let journal = try rig.open(durability)
        rig.append(10, to: journal)
        let image = try rig.image("image")
        journal.close()
        return image
    }

    private func prepare(_ rig: JournalRig) throws -> JournalOpening {
        try JournalFile.prepare(in: rig.directory(), tuning: rig.tuning)
    }

    @Test("J49: a log cut at any byte ends with the last complete batch")
    func torn() throws {
        let image = try crashed()
        let (file, log) = (image.bytes(of: JournalFile.name), image.bytes(of: JournalFile.logName))
        #expect((log.count - 32) % Self.frame == 0)
        var counts: Set<Int> = []
        for cut in stride(from: log.count, to: 32, by: -997) {
            try image.forgetCaches()
            try image.set(JournalFile.name, to: file)
            try image.set(JournalFile.logName, to: Array(log[..<cut]))
            _ = try prepare(image)
            let rows = try image.rows()
            #expect(rows.map(\.number) == Array((1...10).prefix(rows.count)))
            #expect(rows.count >= (cut - 32) / Self.frame - 1, "cut at \(cut)")
            counts.insert(rows.count)
        }
        #expect(counts.count > 8)
    }

    @Test("J50: zeros, garbage and frames of an earlier use after the last batch are not batches")
    func tail() throws {
        let image = try crashed()
        let log = image.bytes(of: JournalFile.logName)
        let zeros = [UInt8](repeating: 0, count: 3 * Self.frame)
        let garbage = (0..<3 * Self.frame).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761) }
        for tail in [zeros, garbage] {
            try image.set(JournalFile.logName, to: log + tail)
            #expect(try prepare(image).droppedByteCount == 0)
            #expect(try image.rows().count == 10)
        }
        let torn = Array(log[..<(log.count - 100)]) + [UInt8](repeating: 0, count: 100)
        try image.set(JournalFile.logName, to: torn)
        try image.directory().remove("journal.sqlite-shm")
        #expect(try prepare(image).droppedByteCount == Self.frame)
        #expect(try image.rows().count == 9)
    }

    @Test("J50: rows survive many restarts of the log")
    func rounds() throws {
        let rig = JournalRig()
        rig.tuning.checkpointByteCount = 20_000
        rig.tuning.restartByteCount = 40_000
        let journal = try rig.open()
        for round in 1...8 {
            rig.append(25, to: journal)
            // Another thread restarts the log between rows.
            let image = try journal.whileIdle { Result { try rig.image("image-\(round)") } }.get()
            #expect(try prepare(image).droppedByteCount == 0)
            #expect(try image.rows().count == round * 25)
        }
        journal.close()
        #expect(rig.failures.isEmpty)
    }

    @Test(
        "J52: a flipped bit in the log before complete batches is damage, and not a torn tail",
        arguments: [8, 20, 32 + 4, 32 + 10, 32 + 18, 32 + 2_000, 32 + 4_120 * 4 + 100])
    func flipped(offset: Int) throws {
        let image = try crashed()
        var log = image.bytes(of: JournalFile.logName)
        log[offset] ^= 1
        try image.set(JournalFile.logName, to: log)
        let damage = failure { _ = try prepare(image) }?.damage
        #expect(damage?.file == image.path + "/journal.sqlite-wal")
    }

    @Test(
        "J52: a flipped bit in the last commit but one is damage, wherever in its frame it is",
        arguments: [1, 5, 9, 14, 17, 22, 24, 400, 4_000])
    func lastButOne(offset: Int) throws {
        let image = try crashed()
        var log = image.bytes(of: JournalFile.logName)
        log[log.count - 2 * Self.frame + offset] ^= 1
        try image.set(JournalFile.logName, to: log)
        let damage = failure { _ = try prepare(image) }?.damage
        #expect(damage?.file == image.path + "/journal.sqlite-wal")
    }

    /// A log of ten rows, a transaction of upkeep that deletes some, and one more row; and the numbers
    /// of frames after which its commits end.
    private func trimmed() throws -> (image: JournalRig, log: [UInt8], ends: [Int]) {
        let rig = JournalRig()
        rig.tuning.grownByteCount = 0
        // All frames stay in the log alone.
        rig.tuning.faults.checkpoint = { () throws(JournalError) in
            throw .database(
                DatabaseFailure(file: "f", purpose: "p", code: 13, systemCode: 0, message: "m"))
        }
        let journal = try rig.open()
        rig.append(10, to: journal, padding: 3_000)
        #expect(try rig.trim(journal, behind: 6)?.get().rowCount == 6)
        rig.append(1, to: journal, padding: 9_000)
        let image = try rig.image("image")
        journal.close()
        let log = image.bytes(of: JournalFile.logName)
        let ends = (1...(log.count - 32) / Self.frame).filter { number in
            let head = 32 + (number - 1) * Self.frame
            return log[head + 4..<head + 8].contains { $0 != 0 }
        }
        return (image, log, ends)
    }

    @Test("J50: a torn transaction of upkeep and the torn commit after it are not damage")
    func tornUpkeep() throws {
        let (image, log, ends) = try trimmed()
        let (before, upkeep) = (ends[ends.count - 3], ends[ends.count - 2])
        #expect(upkeep - before > 1 && (log.count - 32) / Self.frame - upkeep > 1)
        image.tuning.boot = { BootID(high: 1, low: 1) }
        // A power cut keeps any of the pages that were not durable.
        for last in upkeep...(log.count - 32) / Self.frame {
            var torn = Array(log[..<(32 + last * Self.frame)])
            for index in 0..<Self.frame { torn[32 + before * Self.frame + index] = 0 }
            try image.forgetCaches()
            try image.set(JournalFile.logName, to: torn)
            #expect(try prepare(image).droppedByteCount == (last - before) * Self.frame)
            #expect(try image.rows().map(\.number) == Array(1...10))
        }
    }

    @Test("J52: a flipped bit before a transaction of upkeep and a commit is damage after a reboot")
    func flippedBefore() throws {
        let (image, log, ends) = try trimmed()
        var flipped = log
        flipped[32 + ends[ends.count - 3] * Self.frame - 100] ^= 1
        image.tuning.boot = { BootID(high: 1, low: 1) }
        try image.set(JournalFile.logName, to: flipped)
        let damage = failure { _ = try prepare(image) }?.damage
        #expect(damage?.file == image.path + "/journal.sqlite-wal")
    }

    @Test("J52: a lost tail overwritten by strict commits is not damage")
    func stricter() throws {
        let image = try crashed(.relaxed)
        var log = image.bytes(of: JournalFile.logName)
        log[log.count - 7 * Self.frame + 100] ^= 1
        try image.set(JournalFile.logName, to: log)
        image.tuning.grownByteCount = 0
        let other = try image.hold()
        let journal = try image.open(.strict)
        image.append(1, to: journal)
        let next = try image.image("next")
        try other.execute("ROLLBACK")
        journal.close()
        _ = try prepare(next)
        #expect(try next.rows().map(\.number) == Array(1...4))
    }

    @Test(
        "J53: a missing, empty or zeroed log of a journal that was not closed is damage",
        arguments: [nil, 0, 32, 9_000] as [Int?])
    func lost(byteCount: Int?) throws {
        let image = try crashed()
        try image.forgetCaches()
        if let byteCount {
            try image.set(JournalFile.logName, to: [UInt8](repeating: 0, count: byteCount))
        }
        for _ in 1...2 {
            let damage = failure { _ = try prepare(image) }?.damage
            #expect(damage?.file == image.path + "/journal.sqlite-wal" && damage?.got == "none")
        }
    }

    @Test("a journal that could not be closed cleanly keeps its log")
    func keptLog() throws {
        let rig = JournalRig()
        rig.tuning.faults.commit = { turn throws(JournalError) in
            throw .database(
                DatabaseFailure(file: "f", purpose: "p", code: 13, systemCode: 0, message: "m"))
        }
        let journal = try rig.open()
        rig.append(1, to: journal)
        journal.close()
        #expect(try rig.directory().byteCount(of: JournalFile.logName) ?? 0 > 0)
        rig.tuning.faults.commit = nil
        let again = try rig.open()
        rig.append(1, to: again)
        again.close()
        #expect(try rig.directory().byteCount(of: JournalFile.logName) == nil)
    }

    @Test("J52: in relaxed, a flipped bit in the log counts as a lost tail")
    func relaxed() throws {
        let image = try crashed(.relaxed)
        var log = image.bytes(of: JournalFile.logName)
        log[log.count - 3 * Self.frame + 100] ^= 1
        try image.set(JournalFile.logName, to: log)
        #expect(try prepare(image).droppedByteCount == 3 * Self.frame)
        let rows = try image.rows()
        #expect(rows.map(\.number) == Array(1...7))
    }
}
