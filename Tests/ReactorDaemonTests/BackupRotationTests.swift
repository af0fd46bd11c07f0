import Foundation
import ReactorWire
import TestPrograms
import Testing

/// `reactorctl backup --keep` with a real daemon.
///
/// Drives ``BackupFolder``.
@Suite("Backups on a schedule", .timeLimit(.minutes(10)))
struct BackupRotationTests {
    private let directory = TestDirectory()
    private var folder: String { directory.path("backups") }
    private let files = FileManager.default

    private func start() async throws -> Reactorctl {
        try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let daemon = try await DaemonProcess.start(
            config: "data: { directory: \(directory.path("data")) }\n" + DaemonProcess.example,
            in: directory)
        let control = Reactorctl(daemon: daemon)
        _ = try await control("dispatch", "/visits", #"{"increment":{"by":5}}"#)
        return control
    }

    private func names() throws -> [String] {
        try files.contentsOfDirectory(atPath: folder).sorted()
    }

    private func map(_ run: Reactorctl.Run) throws -> WireMap {
        guard case .map(let map) = try WireValue(json: run.output) else {
            Issue.record("no object: \(run.output) \(run.errors)")
            return WireMap()
        }
        return map
    }

    /// Makes the only backup the one of each of these years.
    private func age(to years: ClosedRange<Int>) throws {
        let made = try #require(try names().first { $0.hasPrefix("backup-") })
        for year in years {
            try files.copyItem(
                atPath: folder + "/" + made, toPath: folder + "/backup-\(year)0101T000000Z")
        }
        try files.removeItem(atPath: folder + "/" + made)
    }

    @Test("a run makes one dated backup, and removes good ones beyond the newest N")
    func rotates() async throws {
        let control = try await start()
        let first = try map(try await control("backup", folder, "--keep", "3"))
        #expect(first["kept"] == 1 && first["removed"] == [])
        try age(to: 2001...2005)
        let run = try await control("backup", folder, "--keep", "3")
        #expect(run.code == 0, "\(run.errors)")
        let result = try map(run)
        #expect(result["kept"] == 3)
        #expect(
            result["removed"] == [
                "backup-20030101T000000Z", "backup-20020101T000000Z", "backup-20010101T000000Z",
            ])
        let left = try names()
        #expect(left.count == 3)
        #expect(left.prefix(2) == ["backup-20040101T000000Z", "backup-20050101T000000Z"])
        #expect(result["directory"] == .text(folder + "/" + (left.last ?? "")))
        let metrics = try await control("metrics").output
        #expect(metrics.contains("reactord_backup_age_seconds "))
    }

    @Test("damaged backups and other files are neither counted nor removed, and are reported")
    func damage() async throws {
        let control = try await start()
        _ = try await control("backup", folder, "--keep", "2")
        try age(to: 2001...2005)
        // The newest is damaged, one has no journal, and one was continued by a daemon.
        let newest = folder + "/backup-20050101T000000Z/journal.sqlite"
        var bytes = try Data(contentsOf: URL(filePath: newest))
        for index in 4_096..<bytes.count { bytes[index] ^= 0xff }
        try bytes.write(to: URL(filePath: newest))
        try files.removeItem(atPath: folder + "/backup-20040101T000000Z/journal.sqlite")
        let other = TestDirectory()
        let used = try await DaemonProcess.start(
            config: "data: { directory: \(folder)/backup-20030101T000000Z }\n"
                + DaemonProcess.example, in: other)
        _ = try await Reactorctl(daemon: used)(
            "dispatch", "/visits", #"{"increment":{"by":5}}"#)
        try Data("x".utf8).write(to: URL(filePath: folder + "/notes.txt"))
        try files.createDirectory(
            atPath: folder + "/backup-20060101T000000Z.partial",
            withIntermediateDirectories: false)
        let run = try await control("backup", folder, "--keep", "2")
        #expect(run.code == 74)
        for year in [2003, 2004, 2005] {
            #expect(run.errors.contains("backup-\(year)0101T000000Z is neither counted"))
        }
        #expect(try map(run)["removed"] == ["backup-20010101T000000Z"])
        #expect(await used.stop() == .exited(0))
        // Two backups in one second would have the same name.
        let made = try #require(try names().last { $0.hasSuffix("Z") })
        try files.moveItem(
            atPath: folder + "/" + made, toPath: folder + "/backup-20070101T000000Z")
        let again = try await control("backup", folder, "--keep", "1")
        #expect(again.code == 74 && again.errors.contains("its end is not that of a backup"))
        let left = try names()
        #expect(left.contains("notes.txt") && left.contains("backup-20060101T000000Z.partial"))
        for year in 2003...2005 { #expect(left.contains("backup-\(year)0101T000000Z")) }
    }

    @Test("without the folder, or with a count of zero, nothing is made or removed")
    func refusals() async throws {
        let control = try await start()
        #expect(try await control("backup", folder, "--keep", "0").code == 2)
        let run = try await control("backup", directory.path("none"), "--keep", "2")
        #expect(run.code == 66 && run.errors.contains(directory.path("none")))
        #expect(try names().isEmpty)
    }
}
