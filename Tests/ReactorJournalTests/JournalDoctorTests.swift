import Foundation
import Testing

@testable import ReactorJournal

@Suite("The doctor")
struct JournalDoctorTests {
    /// Twenty rows, with snapshots of rows 5 and 15.
    private func rigWithSnapshots() throws -> JournalRig {
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
        let rig = try rigWithSnapshots()
        rig.release()
        let report = try JournalDoctor(at: rig.path).examine()
        #expect(report.findings.isEmpty)
        #expect(report.last?.number == 20 && report.snapshots == [15, 5])
    }

    @Test("all damage is named, and the files are not changed")
    func findings() throws {
        let rig = try rigWithSnapshots()
        try rig.flip("the deltas of row 18the")
        try rig.flip("part 1 of", in: "snapshot-15.sqlite")
        let before = try files(rig)
        rig.release()
        let report = try JournalDoctor(at: rig.path).examine()
        #expect(report.findings.map { $0.damage?.row } == [18, 2])
        #expect(report.last?.number == 17 && report.snapshots == [5])
        let after = try files(rig).filter { before[$0.key] != nil || !$0.value.isEmpty }
        #expect(after == before)
    }

    @Test("a directory in use is not examined")
    func inUse() throws {
        let rig = try rigWithSnapshots()
        let directory = try rig.directory()
        guard case .inUse? = failure({ _ = try JournalDoctor(at: rig.path) }) else {
            Issue.record("a directory in use was examined")
            return
        }
        withExtendedLifetime(directory) {}
    }

    @Test("J51: the rows before the damage are salvaged, with the newest snapshot that fits them")
    func prefix() throws {
        let rig = try rigWithSnapshots()
        try rig.flip("the deltas of row 18the")
        rig.release()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.start.number == 0 && salvage.end.number == 17 && salvage.snapshot == 15)
        #expect(try SnapshotStore(other.directory()).choose().snapshot != nil)
        let journal = try other.open()
        other.append(1, to: journal)
        journal.close()
        let rows = try other.rows()
        // Clients may have seen the lost rows, so a salvaged history begins a new epoch.
        #expect(rows.map(\.number) == Array(1...19) && rows[17].epoch == 0)
    }

    @Test("a copy up to a sequence ends with the last whole row, and has the snapshot before it")
    func upToSequence() throws {
        let rig = try rigWithSnapshots()
        let rows = try rig.rows()
        rig.release()
        let (last, next) = (rows[11], rows[12])
        for sequence in [last.sequence, next.sequence - 1] {
            let other = JournalRig(in: rig.home, name: "restored-\(sequence)")
            let limit = JournalLimit.sequence(epoch: last.epoch, sequence)
            let copy = try JournalDoctor(at: rig.path).copy(until: limit, into: other.path)
            #expect(copy?.end == last.position && copy?.snapshot == 5)
            #expect(try other.rows().map(\.number) == Array(1...13), "with the mark of a new epoch")
        }
        let other = JournalRig(in: rig.home, name: "absent")
        let limit = JournalLimit.sequence(epoch: last.epoch &+ 1, 1)
        #expect(try JournalDoctor(at: rig.path).copy(until: limit, into: other.path) == nil)
        #expect(!FileManager.default.fileExists(atPath: other.path))
    }

    @Test("a copy up to a time ends before the first later row")
    func upToTime() throws {
        let rig = try rigWithSnapshots()
        let rows = try rig.rows()
        rig.release()
        let first = try #require(rows.first)
        let last = try #require(rows.last)
        let all = JournalRig(in: rig.home, name: "all")
        let copy = try JournalDoctor(at: rig.path).copy(until: .time(last.time), into: all.path)
        #expect(copy?.end == last.position && copy?.snapshot == 15)
        let part = JournalRig(in: rig.home, name: "part")
        let middle = rows[9].time
        let end = rows.prefix { $0.time <= middle }.last
        let half = try JournalDoctor(at: rig.path).copy(until: .time(middle), into: part.path)
        #expect(half?.end == end?.position)
        let none = JournalRig(in: rig.home, name: "none")
        let early = JournalLimit.time(first.time - 1)
        #expect(try JournalDoctor(at: rig.path).copy(until: early, into: none.path) == nil)
        #expect(!FileManager.default.fileExists(atPath: none.path))
    }

    @Test("J51: if a snapshot covers the damage, all rows after it are salvaged")
    func behindDamage() throws {
        let rig = try rigWithSnapshots()
        try rig.flip("the deltas of row 9the")
        rig.release()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.start.number == 15 && salvage.end.number == 20 && salvage.snapshot == 15)
        #expect(try other.rows().map(\.number) == Array(16...21))
        #expect(try SnapshotStore(other.directory()).choose().snapshot != nil)
    }

    @Test("J51: a damaged row covered by its own snapshot costs none of the later rows")
    func ownRow() throws {
        let rig = try rigWithSnapshots()
        try rig.flip("the deltas of row 15the")
        rig.release()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.start.number == 15 && salvage.end.number == 20 && salvage.snapshot == 15)
        #expect(try SnapshotStore(other.directory()).choose().snapshot != nil)
        let journal = try other.open()
        other.append(1, to: journal)
        journal.close()
        #expect(try other.rows().map(\.number) == Array(16...22))
    }

    @Test(
        "J51: if the journal's identity is damaged, it is taken from the snapshots",
        arguments: ["instance", "anchor"])
    func rottenMeta(key: String) throws {
        let rig = try rigWithSnapshots()
        try rig.alter("UPDATE meta SET value = x'00' WHERE key = '\(key)'")
        rig.release()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.start.number == 5 && salvage.end.number == 20 && salvage.snapshot == 15)
        #expect(try SnapshotStore(other.directory()).choose().snapshot != nil)
    }

    @Test("J54: a snapshot of a diverged copy of the journal is not salvaged")
    func otherEnd() throws {
        let rig = try rigWithSnapshots()
        let fork = JournalRig(in: rig.home, name: "fork")
        _ = try fork.directory()
        for name in [JournalFile.name, "snapshot-5.sqlite"] {
            try fork.set(name, to: rig.bytes(of: name))
        }
        try fork.alter(
            """
            DELETE FROM batch WHERE number > 5;
            DELETE FROM meta WHERE key = 'floor'
            """)
        let journal = try fork.open()
        fork.append(10, to: journal, padding: 1)
        _ = try SnapshotWriterTests.write(journal, fork).get()
        journal.close()
        try rig.set("snapshot-15.sqlite", to: fork.bytes(of: "snapshot-15.sqlite"))
        rig.release()
        let other = JournalRig(in: rig.home, name: "salvaged")
        let salvage = try JournalDoctor(at: rig.path).salvage(into: other.path)
        #expect(salvage.end.number == 20 && salvage.snapshot == 5)
        #expect(try SnapshotStore(other.directory()).choose().snapshot != nil)
    }

    @Test("J55: a salvaged journal detects the loss of its tail")
    func floor() throws {
        let rig = try rigWithSnapshots()
        rig.release()
        let other = JournalRig(in: rig.home, name: "salvaged")
        _ = try JournalDoctor(at: rig.path).salvage(into: other.path)
        _ = try other.directory()
        try other.alter("DELETE FROM batch WHERE number > 18")
        #expect(failure { _ = try other.rows() }?.damage?.row == 19)
    }

    @Test("a salvage into a directory with a journal is refused")
    func occupied() throws {
        let (rig, other) = (try rigWithSnapshots(), try JournalRig.closed(1))
        rig.release()
        other.release()
        let error = failure { _ = try JournalDoctor(at: rig.path).salvage(into: other.path) }
        #expect(error != nil)
        #expect(try other.rows().count == 1)
    }
}
