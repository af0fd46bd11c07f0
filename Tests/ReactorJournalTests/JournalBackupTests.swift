import Foundation
import TestPrograms
import Testing

@testable import ReactorJournal

/// A copy of a history, made while the journal is open.
@Suite("A backup")
struct JournalBackupTests {
    /// An open journal with a snapshot and rows after it.
    private func journal() throws -> (JournalRig, SQLiteJournal) {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(20, to: journal, padding: 4_000)
        _ = try SnapshotWriterTests.write(journal, rig).get()
        rig.append(20, to: journal, padding: 4_000)
        return (rig, journal)
    }

    @Test("a backup ends with a row of epoch 0, and its journal is one file")
    func mark() throws {
        let (rig, journal) = try journal()
        let path = rig.home.path("copy")
        let backup = try JournalBackup(of: rig.directory(), into: path)
        #expect(backup.end.number == 40 && backup.snapshot == 20)
        let log = FileManager.default.contents(atPath: path + "/" + JournalFile.logName)
        #expect(log?.isEmpty ?? true)
        let copy = try DataDirectory(at: path)
        #expect(try JournalReader(copy).verifyRest().epoch == 0)
        journal.close()
    }

    @Test("a damaged row is reported in the copied file, not in the copy")
    func rotten() throws {
        let (rig, journal) = try journal()
        journal.close()
        try rig.alter("UPDATE batch SET chain = chain + 1 WHERE number = 7")
        let error = #expect(throws: JournalError.self) {
            try JournalBackup(of: rig.directory(), into: rig.home.path("copy"))
        }
        guard case .damage(let damage)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(damage.row == 7 && damage.file == rig.path + "/journal.sqlite")
    }

    @Test("a cancelled backup ends soon and leaves no file, at any step")
    func cancelled() throws {
        let (rig, journal) = try journal()
        var askedCount = 0
        _ = try JournalBackup(of: rig.directory(), into: rig.home.path("whole")) {
            askedCount += 1
            return false
        }
        #expect(askedCount > 60)
        let path = rig.home.path("half")
        for limit in stride(from: 0, to: askedCount, by: max(1, askedCount / 24)) {
            var count = 0
            #expect(throws: JournalError.self) {
                _ = try JournalBackup(of: rig.directory(), into: path) {
                    count += 1
                    return count > limit
                }
            }
            // After the first true answer, only the closing of the file asks again.
            #expect(count <= limit + 2)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        journal.close()
    }

    @Test("a snapshot that is replaced during its copy is copied as it was opened")
    func replaced() throws {
        let (rig, journal) = try journal()
        let directory = try rig.directory()
        let other = try DataDirectory(at: rig.home.path("other"))
        let name = SnapshotHeader.name(20)
        // Two rounds, since a file is copied a megabyte at a time.
        let first = [UInt8](repeating: 1, count: 3 << 20)
        try rig.set(name, to: first)
        try rig.set("next", to: [UInt8](repeating: 2, count: 3 << 20))
        var count = 0
        try directory.copy(name, into: other) {
            count += 1
            if count == 2 { try? directory.rename("next", to: name) }
            return false
        }
        let copied = FileManager.default.contents(atPath: other.path(name))
        #expect(copied == Data(first))
        journal.close()
    }

    @Test("the remains of a killed backup are replaced by the next one")
    func retried() throws {
        let (rig, journal) = try journal()
        let path = rig.home.path("copy")
        for name in ["copy.partial", "copy"] {
            try FileManager.default.createDirectory(
                atPath: rig.home.path(name), withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        for name in ["journal.lock", "journal.sqlite.partial", "snapshot-20.sqlite"] {
            try Data([1, 2, 3]).write(to: URL(filePath: rig.home.path("copy.partial/" + name)))
        }
        #expect(try JournalBackup(of: rig.directory(), into: path + "/").end.number == 40)
        #expect(!FileManager.default.fileExists(atPath: path + ".partial"))
        // A complete backup is not overwritten.
        #expect(throws: JournalError.self) { try JournalBackup(of: rig.directory(), into: path) }
        journal.close()
    }

    @Test("an existing directory with other files is not changed")
    func foreign() throws {
        let (rig, journal) = try journal()
        let path = rig.home.path("copy.partial")
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        try Data([1]).write(to: URL(filePath: path + "/letter"))
        #expect(throws: JournalError.self) {
            try JournalBackup(of: rig.directory(), into: rig.home.path("copy"))
        }
        #expect(FileManager.default.fileExists(atPath: path + "/letter"))
        journal.close()
    }

    @Test("a backup into the copied directory is refused, whatever links lead there")
    func inside() throws {
        let (rig, journal) = try journal()
        let directory = try rig.directory()
        let name = URL(filePath: rig.path).lastPathComponent
        let link = rig.home.path("link")
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: rig.path)
        for path in [rig.path + "/copy", rig.path + "/../\(name)/copy", link + "/copy"] {
            let error = #expect(throws: JournalError.self) {
                try JournalBackup(of: directory, into: path)
            }
            #expect("\(error as Any)".contains("is inside the data directory"))
        }
        journal.close()
    }

    @Test("the files of a backup and of a salvage have mode 0600, whatever the umask")
    func modes() throws {
        let rig = try JournalRig.closed(20)
        _ = try JournalBackup(of: rig.directory(), into: rig.home.path("copy"))
        rig.release()
        _ = try JournalDoctor(at: rig.path).salvage(into: rig.home.path("good"))
        for name in ["copy", "good"] {
            let path = rig.home.path(name)
            for file in try FileManager.default.contentsOfDirectory(atPath: path) {
                let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + file)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
            }
        }
    }
}
