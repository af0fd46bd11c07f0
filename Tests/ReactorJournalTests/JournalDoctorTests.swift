import GRDB
import Testing

@testable import ReactorJournal

@Suite("the doctor")
struct JournalDoctorTests {
    /// Twenty rows, with snapshots of rows 5 and 15.
    private func patient() throws -> JournalRig {
        let rig = JournalRig()
        let journal = try rig.open()
        for count in [5, 10, 5] {
            rig.append(count, to: journal)
            if journal.lastNumber < 20 { _ = try SnapshotWriterTests.write(journal, rig).get() }
        }
        journal.close()
        return rig
    }

    private func files(_ rig: JournalRig) throws -> [String: [UInt8]] {
        let names = try rig.directory().names().filter { !$0.hasSuffix("-shm") }
        return Dictionary(uniqueKeysWithValues: names.map { ($0, rig.bytes(of: $0)) })
    }

    @Test("a healthy directory has no findings")
    func healthy() throws {
        let rig = try patient()
        rig.letGo()
        let report = try JournalDoctor(at: rig.path).examine()
        #expect(report.findings.isEmpty)
        #expect(report.last?.number == 20 && report.snapshots == [15, 5])
    }

    @Test("everything that is wrong is named, and the files are as they were")
    func findings() throws {
        let rig = try patient()
        try rig.flip("the deltas of row 18the")
        try rig.flip("part 1 of", in: "snapshot-15.sqlite")
        let before = try files(rig)
        rig.letGo()
        let report = try JournalDoctor(at: rig.path).examine()
        #expect(report.findings.map { $0.damage?.row } == [18, 2])
        #expect(report.last?.number == 17 && report.snapshots == [5])
        let after = try files(rig).filter { before[$0.key] != nil || !$0.value.isEmpty }
        #expect(after == before)
    }

    @Test("a directory in use is left alone")
    func inUse() throws {
        let rig = try patient()
        let directory = try rig.directory()
        guard case .inUse? = failure({ _ = try JournalDoctor(at: rig.path) }) else {
            Issue.record("a directory in use was examined")
            return
        }
        withExtendedLifetime(directory) {}
    }

    @Test("J51: the good prefix is salvaged, with the newest snapshot that joins it")
    func prefix() throws {
        let rig = try patient()
        try rig.flip("the deltas of row 18the")
        rig.letGo()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.start.number == 0 && salvage.end.number == 17 && salvage.snapshot == 15)
        #expect(try SnapshotShelf(other.directory()).choose().snapshot != nil)
        let journal = try other.open()
        other.append(1, to: journal)
        journal.close()
        let rows = try other.rows()
        // because what came behind may have been seen, whoever goes on begins an epoch
        #expect(rows.map(\.number) == Array(1...19) && rows[17].epoch == 0)
    }

    @Test("J51: where a snapshot stands for the damage, everything behind it is salvaged")
    func behindDamage() throws {
        let rig = try patient()
        try rig.flip("the deltas of row 9the")
        rig.letGo()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.start.number == 15 && salvage.end.number == 20 && salvage.snapshot == 15)
        #expect(try other.rows().map(\.number) == Array(16...21))
        #expect(try SnapshotShelf(other.directory()).choose().snapshot != nil)
    }

    @Test("J51: a rotten row that a snapshot is of costs none of those behind it")
    func ownRow() throws {
        let rig = try patient()
        try rig.flip("the deltas of row 15the")
        rig.letGo()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.start.number == 15 && salvage.end.number == 20 && salvage.snapshot == 15)
        #expect(try SnapshotShelf(other.directory()).choose().snapshot != nil)
        let journal = try other.open()
        other.append(1, to: journal)
        journal.close()
        #expect(try other.rows().map(\.number) == Array(16...22))
    }

    @Test(
        "J51: where what says which journal it is has rotted, the snapshots say it",
        arguments: ["instance", "anchor"])
    func rottenMeta(key: String) throws {
        let rig = try patient()
        try DatabaseQueue(path: rig.path + "/journal.sqlite").write {
            try $0.execute(sql: "UPDATE meta SET value = x'00' WHERE key = '\(key)'")
        }
        rig.letGo()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.start.number == 5 && salvage.end.number == 20 && salvage.snapshot == 15)
        #expect(try SnapshotShelf(other.directory()).choose().snapshot != nil)
    }

    @Test("J54: a snapshot of another end of the same journal is left where it is")
    func otherEnd() throws {
        let rig = try patient()
        let fork = JournalRig(in: rig.home, name: "fork")
        _ = try fork.directory()
        for name in [JournalFile.name, "snapshot-5.sqlite"] {
            try fork.set(name, to: rig.bytes(of: name))
        }
        try DatabaseQueue(path: fork.path + "/journal.sqlite").write {
            try $0.execute(sql: "DELETE FROM batch WHERE number > 5")
            try $0.execute(sql: "DELETE FROM meta WHERE key = 'floor'")
        }
        let journal = try fork.open()
        fork.append(10, to: journal, padding: 1)
        _ = try SnapshotWriterTests.write(journal, fork).get()
        journal.close()
        try rig.set("snapshot-15.sqlite", to: fork.bytes(of: "snapshot-15.sqlite"))
        rig.letGo()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.end.number == 20 && salvage.snapshot == 5)
        #expect(try SnapshotShelf(other.directory()).choose().snapshot != nil)
    }

    @Test("J55: what was salvaged knows where it ends")
    func floor() throws {
        let rig = try patient()
        rig.letGo()
        let other = JournalRig(in: rig.home, name: "salvaged")
        _ = try JournalDoctor(at: rig.path).salvage(into: other.path)
        _ = try other.directory()
        try DatabaseQueue(path: other.path + "/journal.sqlite").write {
            try $0.execute(sql: "DELETE FROM batch WHERE number > 18")
        }
        #expect(failure { _ = try other.rows() }?.damage?.row == 19)
    }

    @Test("nothing is salvaged into a directory that holds a journal")
    func occupied() throws {
        let (rig, other) = (try patient(), try JournalRig.closed(1))
        rig.letGo()
        other.letGo()
        let error = failure { _ = try JournalDoctor(at: rig.path).salvage(into: other.path) }
        #expect(error != nil)
        #expect(try other.rows().count == 1)
    }
}
