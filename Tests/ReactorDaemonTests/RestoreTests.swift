import Foundation
import TestPrograms
import Testing

/// Backups that an operator verifies, and restores to a point in time; ``RestoredHistory``.
@Suite("reactord verify and restore", .timeLimit(.minutes(10)))
struct RestoreTests {
    private let home = TestDirectory()

    private func config(_ data: String) -> String {
        "data:\n  directory: \(home.path(data))\nreactors:\n  visits: { kind: counter }\n"
    }

    private func start(on data: String = "data") async throws -> Reactorctl {
        Reactorctl(daemon: try await DaemonProcess.start(config: config(data), in: home))
    }

    private func reactord(
        _ arguments: String...
    ) async throws -> (code: ChildProcess.Ending, output: String, errors: String) {
        var arguments = arguments
        if arguments[0] != "restore" {
            arguments += ["--config", try home.write(config("data"), to: "offline.yaml")]
        }
        let process = try ChildProcess(
            Built.product("reactord"), arguments, in: home, name: UUID().uuidString)
        return (await process.ended(), process.output, process.errors)
    }

    /// Makes a backup of a counter that was increased by 5 and then by 7; returns the revision of
    /// the 5, and the times of both.
    private func makeBackup() async throws -> (revision: String, times: [String]) {
        let reactorctl = try await start()
        for count in [5, 7] {
            let run = try await reactorctl(
                "dispatch", "/visits", #"{"increment":{"by":\#(count)}}"#)
            #expect(run.code == 0)
        }
        let log = try await reactorctl("log", "/visits").lines
        try #require(log.count == 2, "\(log)")
        let lines = try log.map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        let times = lines.compactMap { $0?["time"] as? String }
        try #require(times.count == 2, "\(log)")
        let backup = try await reactorctl("backup", home.path("backup"))
        #expect(backup.code == 0, "\(backup.errors)")
        #expect(await reactorctl.daemon.stop() == .exited(0))
        return (try #require(lines[0]?["revision"] as? String), times)
    }

    @Test("a backup is verified, restored up to a revision, and served from there")
    func revision() async throws {
        let (revision, _) = try await makeBackup()
        let verified = try await reactord("verify", home.path("backup"))
        #expect(verified.code == .exited(0), "\(verified)")
        #expect(verified.output.contains("are good, up to sequence 2"), "\(verified.output)")
        #expect(verified.output.contains("replays"), "\(verified.output)")

        let restored = try await reactord(
            "restore", home.path("backup"), home.path("earlier"), "--until", revision)
        #expect(restored.code == .exited(0), "\(restored.errors)")
        #expect(restored.output.contains(", sequence 1, of 20"), "\(restored.output)")
        #expect(try await reactord("verify", home.path("earlier")).code == .exited(0))
        let again = try await start(on: "earlier")
        #expect(try await again("get", "/visits/count").output == "5\n")
        #expect(await again.daemon.stop() == .exited(0))

        let all = try await reactord("restore", home.path("backup"), home.path("all"))
        #expect(all.code == .exited(0) && all.output.contains("sequence 2"), "\(all)")
    }

    @Test("a history is restored up to a time of its log; an earlier time is refused")
    func time() async throws {
        let (_, times) = try await makeBackup()
        let restored = try await reactord(
            "restore", home.path("data"), home.path("then"), "--until", times[0])
        #expect(restored.code == .exited(0), "\(restored.errors)")
        let replayed = try await reactord("replay", home.path("then"))
        // The second action may be of the same millisecond.
        let count = times[1] == times[0] ? 12 : 5
        #expect(replayed.output.contains(#""count":\#(count)"#), "\(replayed.output)")
        let early = try await reactord(
            "restore", home.path("data"), home.path("never"), "--until", "2000-01-01T00:00:00Z")
        #expect(early.code == .exited(65))
        #expect(
            early.errors.contains("no state of 2000-01-01T00:00:00.000Z or before"),
            "\(early.errors)")
        #expect(!FileManager.default.fileExists(atPath: home.path("never")))
    }

    @Test("what cannot be restored is refused with its reason, and writes nothing")
    func refused() async throws {
        _ = try await makeBackup()
        for (until, reason) in [
            ("yesterday", "expected a revision such as"),
            ("0000000000000001:1", "revision 0000000000000001:1 is not in the history"),
        ] {
            let run = try await reactord(
                "restore", home.path("backup"), home.path("new"), "--until", until)
            #expect(run.code == .exited(65) && run.errors.contains(reason), "\(run.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: home.path("new")))
        let taken = try await reactord("restore", home.path("backup"), home.path("data"))
        #expect(taken.code == .exited(73), "\(taken.errors)")
    }

    @Test("a damaged backup is not verified: 78, with the row")
    func damaged() async throws {
        _ = try await makeBackup()
        let path = home.path("backup/journal.sqlite")
        var bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
        let place = try #require(
            bytes.indices.dropLast(9).last { Array(bytes[$0..<$0 + 9]) == Array("increment".utf8) })
        bytes[place] ^= 1
        try Data(bytes).write(to: URL(filePath: path))
        let run = try await reactord("verify", home.path("backup"))
        #expect(run.code == .exited(78) && run.output.contains("damage: "), "\(run)")
    }
}
