import Testing

@testable import ReactorJournal

@Suite("BackupFolder")
struct BackupFolderTests {
    @Test("a backup is named by its time, and names in the order of their times")
    func names() {
        let name = BackupFolder.name(at: "2026-11-24T20:24:09.123Z")
        #expect(name == "backup-20261124T202409Z")
        #expect(BackupFolder.isName(name))
        #expect(name < BackupFolder.name(at: "2026-12-01T00:00:00.000Z"))
        #expect(BackupFolder(at: "/a").path(of: name) == "/a/backup-20261124T202409Z")
    }

    @Test(
        "other names are not those of backups",
        arguments: [
            "", "backup-", "backup-20261124T202409", "backup-20261124T202409Z.partial",
            "backup-20261124T202409Z.removing", "backup-2026112xT202409Z",
            "backup-20261124-202409Z", "mybackup-20261124T202409Z", "..", "backup-20261124T20240éZ",
        ])
    func foreign(name: String) { #expect(!BackupFolder.isName(name)) }

    @Test("a folder that cannot be read has no backups")
    func missing() {
        let result = BackupFolder(at: "/none/of/this").removeOlder(keeping: 1, made: "")
        #expect(result == BackupFolder.Result())
    }
}
