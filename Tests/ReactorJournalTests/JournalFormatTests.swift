import Testing

@testable import ReactorJournal

@Suite("File formats")
struct JournalFormatTests {
    @Test("J68: a newer format is refused, and the file is not changed")
    func newer() throws {
        let rig = try JournalRig.closed(3)
        try rig.forgetCaches()
        var bytes = rig.bytes(of: JournalFile.name)
        bytes[63] = 3
        try rig.set(JournalFile.name, to: bytes)
        let names = try rig.directory().names()
        let file = rig.path + "/" + JournalFile.name
        #expect(
            failure { _ = try rig.open() } == .newerFormat(file: file, format: 3, known: 2))
        #expect(rig.bytes(of: JournalFile.name) == bytes)
        #expect(try rig.directory().names() == names)
        #expect(
            failure { _ = try JournalReader(rig.directory()) }
                == .newerFormat(file: file, format: 3, known: 2))
        #expect(rig.bytes(of: JournalFile.name) == bytes)
    }

    @Test("J54: another program's database, and a file that is not a database, are refused")
    func foreign() throws {
        let rig = try JournalRig.closed(1)
        var bytes = rig.bytes(of: JournalFile.name)
        bytes[71] ^= 1
        try rig.set(JournalFile.name, to: bytes)
        guard case .foreign? = failure({ _ = try rig.open() }) else {
            Issue.record("a foreign file was opened")
            return
        }
        try rig.set(JournalFile.name, to: Array("not a database".utf8))
        #expect(failure { _ = try rig.open() }?.damage?.got == "14 bytes")
    }

    @Test("J69: a journal whose creation was interrupted by a crash is created again")
    func again() throws {
        let rig = JournalRig()
        let half = "journal.sqlite.partial"
        _ = try rig.directory()
        try rig.set(half, to: Array("half a journal".utf8))
        #expect(try rig.directory().names().contains(half))
        let journal = try rig.open()
        rig.append(2, to: journal)
        journal.close()
        #expect(try rig.rows().count == 2)
        #expect(try !rig.directory().names().contains(half))
    }

    @Test("J69: an upgrade keeps every row, and runs once")
    func upgrade() throws {
        let rig = try JournalRig.closed(10)
        let rows = try rig.rows()
        let upgrade = JournalUpgrade()
        try upgrade.run { try upgrade.prepare(rig) }
        #expect(upgrade.takenSteps == [3, 4])
        #expect(try upgrade.run { try rig.rows() } == rows)
        let dump = try upgrade.run { try upgrade.dump(rig) }
        #expect(dump.first == "format 4" && dump.count == 11)
        #expect(dump.last?.hasPrefix("10 noted 10 19 ") ?? false, "\(dump)")
        try upgrade.run { try upgrade.prepare(rig) }
        #expect(upgrade.takenSteps == [3, 4])
        #expect(try upgrade.run { try upgrade.dump(rig) } == dump)
        try upgrade.run {
            let journal = try rig.open()
            rig.append(1, to: journal)
            journal.close()
            #expect(try rig.rows().count == 11)
        }
        let file = rig.path + "/" + JournalFile.name
        #expect(
            failure { _ = try rig.open() } == .newerFormat(file: file, format: 4, known: 2))
    }

    @Test("J69: completed steps are stored in the table that older programs read")
    func takenSteps() throws {
        let rig = try JournalRig.closed(1)
        let upgrade = JournalUpgrade()
        func steps() throws -> [String] {
            let select = try rig.other().statement(
                """
                SELECT sql FROM sqlite_master WHERE name = 'grdb_migrations'
                UNION ALL SELECT identifier FROM grdb_migrations
                """)
            defer { select.end() }
            var steps: [String] = []
            while try select.step() { steps.append(select.text(0) ?? "no text") }
            return steps
        }
        let table = "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)"
        #expect(try steps() == [table, "1", "2"])
        try upgrade.run { try upgrade.prepare(rig) }
        #expect(try steps() == [table, "1", "2", "3", "4"])
    }

    @Test(
        "J69: an upgrade interrupted at any step is repeated with the same result",
        arguments: [3, 4])
    func cutUpgrade(cutStep: Int) throws {
        let rig = try JournalRig.closed(10)
        let rows = try rig.rows()
        let (twin, image) = (try rig.image("twin"), JournalRig(in: rig.home, name: "image"))
        _ = try image.directory()
        let whole = JournalUpgrade()
        try whole.run { try whole.prepare(twin) }
        let expected = try whole.run { try whole.dump(twin) }
        let cut = JournalUpgrade(cutIn: cutStep, copying: rig.path, to: image.path)
        #expect(failure { try cut.run { try cut.prepare(rig) } } != nil)
        #expect(cut.takenSteps == Array(3..<cutStep))
        if cutStep == 3 {
            #expect(try rig.rows() == rows, "nothing of the half step is there")
        }
        // A process may end in the middle, without time to roll back.
        for half in [rig, image] {
            let again = JournalUpgrade()
            try again.run { try again.prepare(half) }
            #expect(again.takenSteps == Array(cutStep...4))
            #expect(try again.run { try again.dump(half) } == expected)
            #expect(try again.run { try half.rows() } == rows)
        }
    }

    @Test("J54: opening a missing journal for writing does not create it")
    func writer() throws {
        let rig = try JournalRig.closed(1)
        try rig.directory().remove(JournalFile.name)
        #expect(throws: JournalError.self) {
            try JournalFile.writer(in: rig.directory(), durability: .strict)
        }
        #expect(try rig.directory().names() == ["journal.lock", "released-row"])
    }

    @Test("J54: a lost journal is not mistaken for one that never existed")
    func gone() throws {
        let rig = try JournalRig.closed(1)
        try rig.directory().remove(JournalFile.name)
        try rig.set("snapshot-1.sqlite", to: [1])
        #expect(
            failure { _ = try rig.open() }
                == .missing(
                    file: rig.path + "/journal.sqlite", reason: "snapshot-1.sqlite exists"))
    }
}
