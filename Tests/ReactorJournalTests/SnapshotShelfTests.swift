import GRDB
import Testing

@testable import ReactorJournal

@Suite("choosing a snapshot")
struct SnapshotShelfTests {
    /// A journal with snapshots of rows 3, 6 and 9 and ten rows.
    private func shelf() throws -> JournalRig {
        let rig = JournalRig()
        let journal = try rig.open()
        for _ in 1...3 {
            rig.append(3, to: journal)
            _ = try SnapshotWriterTests.write(journal, rig).get()
        }
        rig.append(1, to: journal)
        journal.close()
        return rig
    }

    private func trim(_ rig: JournalRig, behind number: UInt64) throws {
        let journal = try rig.open()
        var isDone = false
        journal.trim(behind: number, keeping: .nothing) { _ in isDone = true }
        rig.run { isDone }
        journal.close()
    }

    @Test("the newest is chosen, two are kept, and orphans go")
    func newest() throws {
        let rig = try shelf()
        let shelf = try SnapshotShelf(rig.directory())
        #expect(try shelf.numbers() == [9, 6, 3])
        #expect(try shelf.choose().snapshot?.header.position.number == 9)
        #expect(try shelf.removeOlder() == 6)
        #expect(try shelf.numbers() == [9, 6])
        try rig.set("snapshot-12.partial-0a", to: [1])
        try shelf.removeOrphans()
        #expect(
            try rig.directory().names().filter { !$0.contains(".sqlite-") }
                == [
                    "journal.lock", "journal.sqlite", "released-row", "snapshot-6.sqlite",
                    "snapshot-9.sqlite",
                ])
    }

    @Test("J56: a damaged snapshot is passed over for the one before, or for the first row")
    func falls() throws {
        let rig = try shelf()
        let shelf = try SnapshotShelf(rig.directory())
        try rig.flip("part 2 of", in: "snapshot-9.sqlite")
        var choice = try shelf.choose()
        #expect(choice.snapshot?.header.position.number == 6)
        #expect(choice.passedOver.map { $0.damage?.file } == [rig.path + "/snapshot-9.sqlite"])
        try rig.flip("part 2 of", in: "snapshot-6.sqlite")
        try rig.set("snapshot-3.sqlite", to: [])
        choice = try shelf.choose()
        #expect(choice.snapshot == nil && choice.passedOver.count == 3)
    }

    @Test(
        "J56: whatever is wrong with a snapshot's file, the one before is taken",
        arguments: [0, 17, 18, 19, 30, 45, 60, 63, 71, 100, 101, 105, 4_096, 8_192])
    func everyByte(offset: Int) throws {
        let rig = try shelf()
        let name = "snapshot-9.sqlite"
        let bytes = rig.bytes(of: name)
        for bit in 0..<8 as Range<UInt8> {
            var flipped = bytes
            flipped[offset] ^= 1 << bit
            try rig.set(name, to: flipped)
            let choice = try SnapshotShelf(rig.directory()).choose()
            #expect([6, 9].contains(choice.snapshot?.header.position.number), "bit \(bit)")
        }
        // because SQLite takes a byte that is missing at the end for a zero, which it may be
        for count in [0, 50, 100, 4_096, bytes.count - 64] {
            try rig.set(name, to: Array(bytes[..<count]))
            #expect(
                try SnapshotShelf(rig.directory()).choose().snapshot?.header.position.number == 6)
        }
    }

    @Test("J56: a damaged snapshot does not count as one that is kept")
    func counted() throws {
        let rig = try shelf()
        let shelf = try SnapshotShelf(rig.directory())
        try rig.flip("part 2 of", in: "snapshot-9.sqlite")
        #expect(try shelf.removeOlder() == 3)
        #expect(try shelf.numbers() == [6, 3])
        try rig.flip("part 2 of", in: "snapshot-6.sqlite")
        #expect(try shelf.removeOlder() == nil)
        #expect(try shelf.numbers() == [6, 3])
    }

    @Test("a journal is trimmed as far as its snapshots allow")
    func behind() throws {
        let rig = try shelf()
        let journal = try rig.open()
        var result: Result<JournalTrim, JournalError>?
        journal.trimBehindSnapshots(keeping: .nothing) { result = $0 }
        rig.run { result != nil }
        journal.close()
        #expect(try result?.get().rowCount == 6)
        #expect(try SnapshotShelf(rig.directory()).numbers() == [9, 6])
        #expect(try rig.rows().map(\.number) == [7, 8, 9, 10])
    }

    @Test("J56: where the first rows are gone and no snapshot stands for them, it is refused")
    func gap() throws {
        let rig = try shelf()
        try trim(rig, behind: 6)
        let shelf = try SnapshotShelf(rig.directory())
        try rig.directory().remove("snapshot-9.sqlite")
        #expect(try shelf.choose().snapshot?.header.position.number == 6)
        try rig.directory().remove("snapshot-6.sqlite")
        #expect(failure { _ = try shelf.choose() } != nil)
        try rig.directory().remove("snapshot-3.sqlite")
        #expect(
            failure { _ = try shelf.choose() }
                == .missing(
                    file: rig.path + "/snapshot-6.sqlite",
                    reason: "the journal begins behind row 6"))
    }

    @Test("J55: a snapshot of a row that the journal does not have says that rows were lost")
    func ahead() throws {
        let rig = try shelf()
        try DatabaseQueue(path: rig.path + "/journal.sqlite").write {
            try $0.execute(sql: "DELETE FROM batch WHERE number > 7")
            try $0.execute(sql: "DELETE FROM meta WHERE key = 'floor'")
        }
        let damage = failure { _ = try SnapshotShelf(rig.directory()).choose() }?.damage
        #expect(damage?.row == 9 && damage?.got == "a journal that ends with row 7")
    }

    @Test("J54: a snapshot, or a journal, of another instance is refused")
    func swapped() throws {
        let (ours, theirs) = (try shelf(), try shelf())
        try ours.set("journal.sqlite", to: theirs.bytes(of: "journal.sqlite"))
        guard case .foreign? = failure({ _ = try SnapshotShelf(ours.directory()).choose() }) else {
            Issue.record("another's snapshot was taken")
            return
        }
    }
}
