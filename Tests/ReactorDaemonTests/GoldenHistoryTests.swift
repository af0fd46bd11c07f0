import Foundation
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorJournal

/// Data directories written by daemons of every released format, which are never regenerated.
///
/// Each is a folder of `Golden` that a stopped daemon left: a counter and a map, a snapshot in
/// the middle and one at the end, and `rows.txt`, which an independent program read from the
/// table: number, epoch, after, sequence, time, and the bytes of the deltas and of the facts.
@Suite("Histories written by older programs", .timeLimit(.minutes(10)))
struct GoldenHistoryTests {
    static let formats = Array(1...JournalFormat.current)

    /// The reactors' states after some sequences; the last is the end.
    private static let states: [(sequence: Int, json: String)] = [
        (1, #"{"visits":{"count":5},"settings":{"entries":{}}}"#),
        (6, #"{"visits":{"count":10},"settings":{"entries":{"lang":"de"}}}"#),
        (
            10,
            #"{"visits":{"count":12},"settings":{"entries":{"lang":"de","mixed":"#
                + #"{"list":[1,2.5,null,true],"text":"gr\#u{fc}n"}}}}"#
        ),
    ]

    private let home = TestDirectory()
    private static let folder = Bundle.module.bundlePath + "/Golden/"

    private static func names(of format: Int) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder + "format-\(format)").sorted()
    }

    /// Copies a golden directory without some of its files; returns the path.
    private func copy(_ format: Int, without left: [String] = []) throws -> String {
        let path = home.path("data")
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        for name in try Self.names(of: format) {
            guard name.hasSuffix(".sqlite"), !left.contains(name) else { continue }
            try FileManager.default.copyItem(
                atPath: Self.folder + "format-\(format)/" + name, toPath: path + "/" + name)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: path + "/" + name)
        }
        return path
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? "-" : bytes.map { String(format: "%02x", $0) }.joined()
    }

    @Test("J68: a golden directory of moderate size exists for every format")
    func all() throws {
        let found = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        #expect(found.sorted() == Self.formats.map { "format-\($0)" })
        for format in Self.formats {
            var byteCount = 0
            for name in try Self.names(of: format) {
                let path = Self.folder + "format-\(format)/" + name
                byteCount += try Data(contentsOf: URL(filePath: path)).count
            }
            #expect(byteCount < 100 << 10)
        }
    }

    @Test(
        "J68: the rows and snapshots of every format are read as they were written",
        arguments: formats)
    func rows(format: Int) throws {
        let directory = try DataDirectory(at: copy(format))
        let opening = try SQLiteJournal.prepare(directory)
        #expect(!opening.isNew && opening.droppedByteCount == 0 && !opening.mayHaveLostTail)
        let reader = try JournalReader(directory)
        var lines: [String] = []
        while let row = try reader.next() {
            lines.append(
                "\(row.number) \(String(row.epoch, radix: 16)) \(row.after) \(row.sequence) "
                    + "\(row.time) \(Self.hex(row.deltas)) \(Self.hex(row.facts))")
        }
        let path = Self.folder + "format-\(format)/rows.txt"
        let expected = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines == expected.map(String.init))
        let shelf = SnapshotStore(directory)
        #expect(try shelf.numbers().count == 2)
        let choice = try shelf.choose()
        #expect(choice.passedOver.isEmpty)
        #expect(choice.snapshot?.header.position == reader.position)
    }

    @Test(
        "J68: a daemon starts from every format, from each snapshot and from none, and continues",
        arguments: formats, [0, 1, 2])
    func starts(format: Int, missingCount: Int) async throws {
        // A start uses the newest snapshot.
        let snapshots = try Self.names(of: format).filter { $0.hasPrefix("snapshot-") }
            .sorted { $0.count == $1.count ? $0 > $1 : $0.count > $1.count }
        #expect(snapshots.count == 2)
        let path = try copy(format, without: Array(snapshots.prefix(missingCount)))
        let config =
            "data:\n  directory: \(path)\nreactors:\n"
            + "  visits: { kind: counter }\n  settings: { kind: map }\n"
        let file = try home.write(config, to: "offline.yaml")
        for (sequence, json) in Self.states {
            let replay = try ChildProcess(
                Built.product("reactord"), ["replay", "--until", "\(sequence)", "--config", file],
                in: home, name: "replay-\(sequence)")
            #expect(await replay.ended() == .exited(0), "\(replay.errors)")
            #expect(replay.output.contains(json), "\(replay.output)")
        }
        func start() async throws -> Reactorctl {
            Reactorctl(daemon: try await DaemonProcess.start(config: config, in: home))
        }
        let reactorctl = try await start()
        #expect(try await reactorctl("get", "/").output == Self.states.last.map { $0.json + "\n" })
        #expect(try await reactorctl("dispatch", "/visits", #"{"increment":{"by":30}}"#).code == 0)
        await reactorctl.daemon.kill9()
        let again = try await start()
        #expect(try await again("get", "/visits/count").output == "42\n")
        #expect(await again.daemon.stop() == .exited(0))
    }
}
