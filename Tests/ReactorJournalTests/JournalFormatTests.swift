import Testing

@testable import ReactorJournal

@Suite("formats of files")
struct JournalFormatTests {
    @Test("J68: a newer format is refused, and nothing of it is touched")
    func newer() throws {
        let rig = try JournalRig.closed(3)
        try rig.forgetCaches()
        var bytes = rig.bytes(of: JournalFile.name)
        bytes[63] = 2
        try rig.set(JournalFile.name, to: bytes)
        let names = try rig.directory().names()
        let file = rig.path + "/" + JournalFile.name
        #expect(
            failure { _ = try rig.open() } == .newerFormat(file: file, format: 2, known: 1))
        #expect(rig.bytes(of: JournalFile.name) == bytes)
        #expect(try rig.directory().names() == names)
        #expect(
            failure { _ = try JournalReader(rig.directory()) }
                == .newerFormat(file: file, format: 2, known: 1))
        #expect(rig.bytes(of: JournalFile.name) == bytes)
    }

    @Test("J54: another program's database, and a file that is none, are refused")
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

    @Test("J69: a journal that a crash left half-made is made anew")
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

    @Test("J69: an upgrade brings every row with it, and is taken once")
    func upgrade() throws {
        let rig = try JournalRig.closed(10)
        let rows = try rig.rows()
        let upgrade = JournalUpgrade()
        try upgrade.run { try upgrade.prepare(rig) }
        #expect(upgrade.takenSteps == [2, 3])
        #expect(try upgrade.run { try rig.rows() } == rows)
        let dump = try upgrade.run { try upgrade.dump(rig) }
        #expect(dump.first == "format 3" && dump.count == 11)
        #expect(dump.last?.hasPrefix("10 noted 10 19 ") ?? false, "\(dump)")
        try upgrade.run { try upgrade.prepare(rig) }
        #expect(upgrade.takenSteps == [2, 3])
        #expect(try upgrade.run { try upgrade.dump(rig) } == dump)
        try upgrade.run {
            let journal = try rig.open()
            rig.append(1, to: journal)
            journal.close()
            #expect(try rig.rows().count == 11)
        }
        let file = rig.path + "/" + JournalFile.name
        #expect(
            failure { _ = try rig.open() } == .newerFormat(file: file, format: 3, known: 1))
    }

    @Test(
        "J69: an upgrade that is cut off in any step is run again, to the same end",
        arguments: [2, 3])
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
        #expect(cut.takenSteps == Array(2..<cutStep))
        if cutStep == 2 {
            #expect(try rig.rows() == rows, "nothing of the half step is there")
        }
        // because a process may as well end in the middle, with no time to undo anything
        for half in [rig, image] {
            let again = JournalUpgrade()
            try again.run { try again.prepare(half) }
            #expect(again.takenSteps == Array(cutStep...3))
            #expect(try again.run { try again.dump(half) } == expected)
            #expect(try again.run { try half.rows() } == rows)
        }
    }

    @Test("J54: nobody who writes makes a journal that is missing")
    func writer() throws {
        let rig = try JournalRig.closed(1)
        try rig.directory().remove(JournalFile.name)
        #expect(throws: JournalError.self) {
            try JournalFile.writer(in: rig.directory(), durability: .strict)
        }
        #expect(try rig.directory().names() == ["journal.lock", "released-row"])
    }

    @Test("J54: a journal that is gone is not taken for one that never was")
    func gone() throws {
        let rig = try JournalRig.closed(1)
        try rig.directory().remove(JournalFile.name)
        try rig.set("snapshot-1.sqlite", to: [1])
        #expect(
            failure { _ = try rig.open() }
                == .missing(
                    file: rig.path + "/journal.sqlite", reason: "snapshot-1.sqlite is there"))
    }
}
