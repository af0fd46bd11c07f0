import Testing

@testable import ReactorJournal

/// Drives ``HistorySize``.
@Suite("Choosing a snapshot")
struct SnapshotStoreTests {
    /// A journal with snapshots of rows 3, 6 and 9 and ten rows.
    private func rigWithSnapshots() throws -> JournalRig {
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

    @Test("the newest snapshot is chosen, two are kept, and incomplete files are removed")
    func newest() throws {
        let rig = try rigWithSnapshots()
        let store = try SnapshotStore(rig.directory())
        #expect(try store.numbers() == [9, 6, 3])
        #expect(try store.choose().snapshot?.header.position.number == 9)
        #expect(try store.removeOlder() == 6)
        #expect(try store.numbers() == [9, 6])
        try rig.set("snapshot-12.partial-0a", to: [1])
        try store.removeOrphans()
        #expect(
            try rig.directory().names().filter { !$0.contains(".sqlite-") }
                == [
                    "journal.lock", "journal.sqlite", "released-row", "snapshot-6.sqlite",
                    "snapshot-9.sqlite",
                ])
    }

    @Test("the sizes for metrics are those of the files, and the newest snapshot has an age")
    func sizes() throws {
        let rig = try rigWithSnapshots()
        let directory = try rig.directory()
        let size = HistorySize(of: directory)
        let snapshots = try directory.names().filter { $0.hasPrefix("snapshot-") }
        let expected = try snapshots.reduce(0) { $0 + (try directory.byteCount(of: $1) ?? 0) }
        #expect(size.snapshotByteCount == expected && expected > 0)
        #expect(size.rowByteCount == (try directory.byteCount(of: "journal.sqlite")))
        #expect(try #require(size.snapshotAge) >= 0)
        #expect(try #require(size.freeByteCount) > 0)
    }

    @Test("J56: instead of a damaged snapshot, the one before or the first row is used")
    func falls() throws {
        let rig = try rigWithSnapshots()
        let store = try SnapshotStore(rig.directory())
        try rig.flip("part 2 of", in: "snapshot-9.sqlite")
        var choice = try store.choose()
        #expect(choice.snapshot?.header.position.number == 6)
        #expect(choice.passedOver.map { $0.damage?.file } == [rig.path + "/snapshot-9.sqlite"])
        try rig.flip("part 2 of", in: "snapshot-6.sqlite")
        try rig.set("snapshot-3.sqlite", to: [])
        choice = try store.choose()
        #expect(choice.snapshot == nil && choice.passedOver.count == 3)
    }

    @Test(
        "J56: for any fault of a snapshot's file, the one before is used",
        arguments: [0, 17, 18, 19, 30, 45, 60, 63, 71, 100, 101, 105, 4_096, 8_192])
    func everyByte(offset: Int) throws {
        let rig = try rigWithSnapshots()
        let name = "snapshot-9.sqlite"
        let bytes = rig.bytes(of: name)
        for bit in 0..<8 as Range<UInt8> {
            var flipped = bytes
            flipped[offset] ^= 1 << bit
            try rig.set(name, to: flipped)
            let choice = try SnapshotStore(rig.directory()).choose()
            #expect([6, 9].contains(choice.snapshot?.header.position.number), "bit \(bit)")
        }
        // SQLite reads a missing last byte as zero, and the byte may be zero.
        for count in [0, 50, 100, 4_096, bytes.count - 64] {
            try rig.set(name, to: Array(bytes[..<count]))
            #expect(
                try SnapshotStore(rig.directory()).choose().snapshot?.header.position.number == 6)
        }
    }

    @Test(
        "J56: while one of the newest snapshots is damaged, none is removed, and the damage is named"
    )
    func counted() throws {
        let rig = try rigWithSnapshots()
        let store = try SnapshotStore(rig.directory())
        try rig.flip("part 2 of", in: "snapshot-9.sqlite")
        let error = #expect(throws: JournalError.self) { try store.removeOlder() }
        #expect(error?.damage?.file == rig.path + "/snapshot-9.sqlite")
        #expect(try store.numbers() == [9, 6, 3])
        let journal = try rig.open()
        for _ in 1...2 {
            rig.append(3, to: journal)
            _ = try SnapshotWriterTests.write(journal, rig).get()
        }
        journal.close()
        #expect(try store.removeOlder() == 13)
        #expect(try store.numbers() == [16, 13])
    }

    @Test("a journal is trimmed up to the oldest kept snapshot")
    func behind() throws {
        let rig = try rigWithSnapshots()
        let journal = try rig.open()
        var result: Result<JournalTrim, JournalError>?
        journal.trimBehindSnapshots(keeping: .nothing) { result = $0 }
        rig.run { result != nil }
        journal.close()
        #expect(try result?.get().rowCount == 6)
        #expect(try SnapshotStore(rig.directory()).numbers() == [9, 6])
        #expect(try rig.rows().map(\.number) == [7, 8, 9, 10])
    }

    @Test("J56: a trimmed journal without a snapshot that covers its first rows is refused")
    func gap() throws {
        let rig = try rigWithSnapshots()
        try trim(rig, behind: 6)
        let store = try SnapshotStore(rig.directory())
        try rig.directory().remove("snapshot-9.sqlite")
        #expect(try store.choose().snapshot?.header.position.number == 6)
        try rig.directory().remove("snapshot-6.sqlite")
        #expect(failure { _ = try store.choose() } != nil)
        try rig.directory().remove("snapshot-3.sqlite")
        #expect(
            failure { _ = try store.choose() }
                == .missing(
                    file: rig.path + "/snapshot-6.sqlite",
                    reason: "the journal begins after row 6"))
    }

    @Test("J55: a snapshot of a row that the journal lacks shows that rows were lost")
    func ahead() throws {
        let rig = try rigWithSnapshots()
        try rig.alter(
            """
            DELETE FROM batch WHERE number > 7;
            DELETE FROM meta WHERE key = 'floor'
            """)
        let damage = failure { _ = try SnapshotStore(rig.directory()).choose() }?.damage
        #expect(damage?.row == 9 && damage?.got == "a journal that ends with row 7")
    }

    @Test("J54: a snapshot, or a journal, of another instance is refused")
    func swapped() throws {
        let (ours, theirs) = (try rigWithSnapshots(), try rigWithSnapshots())
        try ours.set("journal.sqlite", to: theirs.bytes(of: "journal.sqlite"))
        guard case .foreign? = failure({ _ = try SnapshotStore(ours.directory()).choose() }) else {
            Issue.record("another's snapshot was taken")
            return
        }
    }
}
