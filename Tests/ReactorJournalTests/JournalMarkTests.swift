import Testing

@testable import ReactorJournal

@Suite("The mark of how a journal was left")
struct JournalMarkTests {
    private static let first = BootID(text: "01234567-0000-0000-0000-000000000001")
    private static let second = BootID(text: "01234567-0000-0000-0000-000000000002")

    @Test("the system's boot id has 128 bits, and any other text is unknown")
    func boot() {
        let boot = BootID(text: "a1b2c3d4-0000-1111-2222-33334444ffff\n")
        #expect(boot == BootID(high: 0xA1B2_C3D4_0000_1111, low: 0x2222_3333_4444_FFFF))
        #expect(BootID(text: "a1b2") == BootID(high: 0, low: 0))
        #expect(!BootID(text: "").isSame(as: BootID(text: "")))
        #expect(BootID.current().isSame(as: .current()))
    }

    @Test("where the system hides the boot's id, it is that of the unit's variable")
    func hiddenBoot() {
        let id = "a1b2c3d4000011112222333344445555"
        let hidden = BootID(file: "/proc/no such file", otherwise: id)
        #expect(hidden == BootID(text: id) && hidden.isSame(as: hidden))
        #expect(BootID(file: "/proc/no such file", otherwise: nil) == BootID(high: 0, low: 0))
        let boot = "/proc/sys/kernel/random/boot_id"
        #expect(BootID(file: boot, otherwise: id) == BootID(file: boot, otherwise: nil))
    }

    @Test("a mark is decoded from its words")
    func words() {
        for bits in 0..<8 {
            let mark = JournalMark(
                isOpen: bits & 1 != 0, durability: bits & 2 != 0 ? .strict : .relaxed,
                isLogStrict: bits & 4 != 0, boot: BootID(high: 5, low: 6),
                cutBehind: bits == 0 ? nil : UInt64(bits - 1))
            #expect(JournalMark(words: mark.words) == mark)
        }
        #expect(JournalMark(words: [1, 5, 6])?.words == [1, 5, 6, 0])
        #expect(JournalMark(words: [8, 0, 0, 0]) == nil && JournalMark(words: [1]) == nil)
    }

    /// Opens the journal, after another boot or the same.
    private func opening(
        _ durability: JournalDurability, isClosed: Bool, isRebooted: Bool
    ) throws -> JournalOpening {
        let rig = JournalRig()
        rig.tuning.boot = { Self.first }
        let journal = try rig.open(durability)
        rig.append(3, to: journal)
        let image = try rig.image("image")
        journal.close()
        let left = isClosed ? rig : image
        left.tuning.boot = { isRebooted ? Self.second : Self.first }
        return try JournalFile.prepare(in: left.directory(), tuning: left.tuning)
    }

    @Test(
        "J48: only an unclosed relaxed journal after another boot may have lost acknowledged rows",
        arguments: [JournalDurability.strict, .relaxed], [false, true])
    func mayHaveLost(durability: JournalDurability, isClosed: Bool) throws {
        for isRebooted in [false, true] {
            let opening = try opening(durability, isClosed: isClosed, isRebooted: isRebooted)
            #expect(
                opening.mayHaveLostTail == (durability == .relaxed && !isClosed && isRebooted))
        }
    }

    @Test("J48: a possible loss of rows is reported until a row of the new epoch exists")
    func isKnownUntilTold() throws {
        let rig = JournalRig()
        rig.tuning.boot = { Self.first }
        let journal = try rig.open(.relaxed)
        rig.append(3, to: journal)
        let cut = try rig.image("cut")
        journal.close()
        cut.tuning.boot = { Self.second }
        func isCut(_ rig: JournalRig) throws -> Bool {
            try JournalFile.prepare(in: rig.directory(), tuning: rig.tuning).mayHaveLostTail
        }
        // A daemon that has begun the epoch may end before it appends a row.
        let begun = try cut.open(.relaxed)
        let killed = try cut.image("killed")
        begun.close()
        #expect(try isCut(cut))
        #expect(try isCut(killed))
        let second = try killed.open(.relaxed)
        killed.append(1, to: second)
        let told = try killed.image("told")
        second.close()
        #expect(try !isCut(told))
        #expect(try !isCut(killed))
    }
}
