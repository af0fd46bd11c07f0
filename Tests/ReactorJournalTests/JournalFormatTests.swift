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

    @Test("J69: a migration that a crash cut off is taken again")
    func again() throws {
        let rig = JournalRig()
        let half = rig.path + "/journal.sqlite.partial"
        _ = try rig.directory()
        try rig.set("journal.sqlite.partial", to: Array("half a journal".utf8))
        let journal = try rig.open()
        rig.append(2, to: journal)
        journal.close()
        #expect(try rig.rows().count == 2)
        #expect(try !rig.directory().names().contains(half))
    }

    @Test("J54: nobody who writes makes a journal that is missing")
    func writer() throws {
        let rig = try JournalRig.closed(1)
        try rig.directory().remove(JournalFile.name)
        #expect(throws: JournalError.self) {
            try JournalFile.writer(in: rig.directory(), durability: .strict)
        }
        #expect(try rig.directory().names() == ["journal.lock"])
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
