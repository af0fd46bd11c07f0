import TestPrograms
import Testing

@testable import ReactorJournal

@Suite("The last released row")
struct ReleasedRowTests {
    private static let first = BootID(text: "01234567-0000-0000-0000-000000000001")
    private static let second = BootID(text: "01234567-0000-0000-0000-000000000002")

    /// A journal with five rows that was not closed, and the log offset of each commit's end.
    private func killed(
        _ durability: JournalDurability = .strict
    ) throws -> (rig: JournalRig, ends: [Int]) {
        let rig = JournalRig()
        rig.tuning.boot = { Self.first }
        let journal = try rig.open(durability)
        var ends: [Int] = []
        for _ in 1...5 {
            rig.append(1, to: journal)
            let extent = try JournalFile.reader(in: rig.directory()).run("looking") {
                $0.logExtent
            }
            ends.append(32 + (try #require(extent)).frameCount * (4_096 + 24))
        }
        let image = try rig.image("image")
        try image.set(ReleasedRow.fileName, to: rig.bytes(of: ReleasedRow.fileName))
        image.tuning.boot = rig.tuning.boot
        journal.close()
        return (image, ends)
    }

    private func prepare(_ rig: JournalRig) throws -> JournalOpening {
        try JournalFile.prepare(in: rig.directory(), tuning: rig.tuning)
    }

    @Test(
        "J55: a log zeroed or cut at a commit is refused, and the missing row is named",
        arguments: [JournalDurability.strict, .relaxed], [false, true])
    func lost(durability: JournalDurability, isCut: Bool) throws {
        let (rig, ends) = try killed(durability)
        let whole = rig.bytes(of: JournalFile.logName)
        _ = try prepare(rig)
        for (index, end) in ends.dropLast().enumerated() {
            var log = Array(whole[..<end])
            if !isCut { log += [UInt8](repeating: 0, count: whole.count - end) }
            try rig.set(JournalFile.logName, to: log)
            let damage = failure { _ = try prepare(rig) }?.damage
            #expect(damage?.row == UInt64(index + 2), "commit \(index + 1)")
            #expect(damage?.expected.contains("rows up to 5") ?? false)
            // The doctor uses the current boot.
            guard durability == .strict else { continue }
            rig.release()
            let report = try JournalDoctor(at: rig.path).examine()
            #expect(report.findings == damage.map { [.damage($0)] })
        }
        try rig.set(JournalFile.logName, to: whole)
        #expect(try prepare(rig).mayHaveLostTail == false)
    }

    @Test(
        "J90: a power cut in relaxed begins a new epoch, and the journal is not refused")
    func relaxed() throws {
        let (rig, ends) = try killed(.relaxed)
        try rig.set(JournalFile.logName, to: Array(rig.bytes(of: JournalFile.logName)[..<ends[2]]))
        rig.tuning.boot = { Self.second }
        #expect(try prepare(rig).mayHaveLostTail)
        let journal = try rig.open(.relaxed)
        journal.close()
        _ = try prepare(rig)
    }

    @Test("J55: an older journal file restored beside a newer released-row is refused")
    func older() throws {
        let rig = try JournalRig.closed(3)
        let older = rig.bytes(of: JournalFile.name)
        let journal = try rig.open()
        rig.append(3, to: journal)
        journal.close()
        try rig.forgetCaches()
        try rig.set(JournalFile.name, to: older)
        #expect(failure { _ = try prepare(rig) }?.damage?.row == 4)
        // A history that diverged from there does not contain the released row either.
        try rig.directory().remove(ReleasedRow.fileName)
        let other = try rig.open()
        rig.append(2, to: other, padding: 1)
        let mark = rig.bytes(of: ReleasedRow.fileName)
        other.close()
        try rig.forgetCaches()
        try rig.set(JournalFile.name, to: older)
        try rig.directory().remove(ReleasedRow.fileName)
        let third = try rig.open()
        rig.append(2, to: third, padding: 2)
        third.close()
        try rig.set(ReleasedRow.fileName, to: mark)
        #expect(failure { _ = try prepare(rig) }?.damage?.row == 5)
    }

    @Test("a copy that begins a new epoch is not a lost tail")
    func copy() throws {
        let rig = try JournalRig.closed(3)
        let backup = rig.home.path("backup")
        _ = try JournalBackup(of: rig.directory(), into: backup)
        let journal = try rig.open()
        rig.append(3, to: journal)
        journal.close()
        try rig.forgetCaches()
        let copy = JournalRig(in: rig.home, name: "backup")
        try rig.set(JournalFile.name, to: copy.bytes(of: JournalFile.name))
        _ = try prepare(rig)
    }

    @Test("a released row that is torn, or older than the journal, causes no refusal")
    func torn() throws {
        let (rig, _) = try killed()
        let note = rig.bytes(of: ReleasedRow.fileName)
        let slot = ReleasedRowFile.slotWordCount * 8
        let row = try #require(try ReleasedRowFile.read(in: rig.directory()))
        #expect(row.position == (try rig.rows().last?.position))
        for offset in stride(from: 0, to: note.count, by: 8) {
            var torn = note
            for index in offset..<min(offset + slot, note.count) { torn[index] ^= 0xA5 }
            try rig.set(ReleasedRow.fileName, to: torn)
            _ = try prepare(rig)
        }
        for count in 0..<note.count {
            try rig.set(ReleasedRow.fileName, to: Array(note[..<count]))
            _ = try prepare(rig)
        }
        try rig.directory().remove(ReleasedRow.fileName)
        _ = try prepare(rig)
    }

    @Test("a process that dies while it writes a released row leaves the one before")
    func turns() throws {
        let rig = try JournalRig.closed(2)
        let (instance, end) = try {
            let reader = try JournalReader(rig.directory())
            return (reader.instance, try reader.verifyRest())
        }()
        let file = try ReleasedRowFile(
            in: rig.directory(), of: instance, at: end, durability: .strict, boot: Self.first)
        for number in 3...9 as ClosedRange<UInt64> {
            let before = rig.bytes(of: ReleasedRow.fileName)
            var next = end
            next.number = number
            file.record(next)
            let after = rig.bytes(of: ReleasedRow.fileName)
            let changed = before.indices.filter { before[$0] != after[$0] }
            for index in changed {
                var half = before
                half.replaceSubrange(..<index, with: after[..<index])
                try rig.set(ReleasedRow.fileName, to: half)
                let found = try ReleasedRowFile.read(in: rig.directory())?.position.number
                #expect(found == number || found == number - 1)
            }
            try rig.set(ReleasedRow.fileName, to: after)
        }
    }

    @Test("J55: a missing journal beside a released-row is an error")
    func gone() throws {
        let rig = try JournalRig.closed(2)
        try rig.forgetCaches()
        try rig.directory().remove(JournalFile.name)
        guard case .missing? = failure({ _ = try prepare(rig) }) else {
            Issue.record("a journal that is gone was taken for one that never was")
            return
        }
    }
}
