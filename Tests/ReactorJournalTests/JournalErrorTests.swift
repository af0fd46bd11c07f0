import Glibc
import Testing

@testable import ReactorJournal

@Suite("The texts of journal errors")
struct JournalErrorTests {
    @Test("damage names file, row, expected, got and the next step")
    func damage() {
        let error = JournalError.damage(
            JournalDamage(file: "/d/journal.sqlite", row: 7, expected: "row 7", got: "row 9"))
        #expect(
            "\(error)" == "/d/journal.sqlite, row 7: expected row 7, got row 9; "
                + "`reactord doctor` examines it and salvages a copy")
    }

    @Test(
        "a full disk is distinguished from a broken one, whatever the system's code",
        arguments: [
            (13, 0, true), (778, ENOSPC, true), (778, EDQUOT, true), (778, EFBIG, true),
            (778, EIO, false), (1034, ENOSPC, false), (1034, EIO, false), (11, 0, false),
        ] as [(Int32, Int32, Bool)])
    func full(code: Int32, systemCode: Int32, isFull: Bool) {
        let failure = DatabaseFailure(
            file: "f", purpose: "appending to", code: code, systemCode: systemCode, message: "m")
        #expect(JournalError.database(failure).isFull == isFull)
        #expect(JournalError.system(SystemFailure(call: "write", path: "f", code: EDQUOT)).isFull)
    }
}
