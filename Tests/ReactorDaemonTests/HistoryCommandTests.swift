import Foundation
import ReactorClient
import ReactorCore
import StockReactors
import TestPrograms
import Testing

/// An operator's queries about the past, of running daemons and of their data.
///
/// Drives ``OfflineHistory`` and ``PastTree``.
@Suite("History commands of the operator", .timeLimit(.minutes(10)))
struct HistoryCommandTests {
    private let directory = TestDirectory()

    private func config(
        _ reactors: String = "  visits: { kind: counter }\n  settings: { kind: map }\n",
        data: String = ""
    ) -> String {
        "data:\n  directory: \(directory.path("data"))\n\(data)reactors:\n\(reactors)"
    }

    private func start(_ config: String? = nil) async throws -> Reactorctl {
        Reactorctl(
            daemon: try await DaemonProcess.start(config: config ?? self.config(), in: directory))
    }

    /// Runs a subcommand of `reactord` with the configuration of the last start.
    private func reactord(
        _ arguments: String..., config: String? = nil, input: String = ""
    ) async throws -> (code: ChildProcess.Ending, output: String, errors: String) {
        var arguments = arguments
        if arguments.first != "doctor" {
            let path = try directory.write(config ?? self.config(), to: "offline.yaml")
            arguments += ["--config", path]
        }
        let process = try ChildProcess(
            Built.product("reactord"), arguments, input: input, in: directory,
            name: UUID().uuidString)
        return (await process.ended(), process.output, process.errors)
    }

    private func add(_ count: Int, _ reactorctl: Reactorctl) async throws {
        let run = try await reactorctl("dispatch", "/visits", #"{"increment":{"by":\#(count)}}"#)
        #expect(run.code == 0)
    }

    @Test("log prints user, time and action at a path, from a revision on, also for failed actions")
    func log() async throws {
        let reactorctl = try await start()
        try await add(5, reactorctl)
        _ = try await reactorctl(
            "dispatch", "/settings", #"{"set":{"key":"theme","value":"dark"}}"#)
        try await add(7, reactorctl)
        let all = try await reactorctl("log").lines
        #expect(all.count == 3)
        #expect(all[0].contains(#":1","time":""#) && all[0].contains(#""uid":\#(geteuid()),"#))
        #expect(all[0].contains(#""path":"/visits","action":{"increment":{"by":5}}"#))
        #expect(all[1].contains(#""mutations":[{"path":"/settings","mutation":{"set":"#))
        let late = try await reactorctl("log", "/visits", "--from", "2", "--json").lines
        #expect(late.count == 1 && late[0].contains(#"{"by":7}"#))
        #expect(try await reactorctl("log", "/vsts").lines.isEmpty)
    }

    @Test("log continues across restarts, and --follow prints new entries")
    func follow() async throws {
        let first = try await start()
        try await add(1, first)
        await first.daemon.kill9()
        let reactorctl = try await start()
        let follower = try reactorctl.start(["log", "/visits", "--follow"], name: "follower")
        #expect(await follower.says(#"{"by":1}"#))
        try await add(2, reactorctl)
        #expect(await follower.says(#"{"by":2}"#))
        follower.signal(SIGTERM)
        #expect(await reactorctl.daemon.stop() == .exited(0))
    }

    @Test(
        "get --at shows past states, before and after a snapshot, and names the earliest revision")
    func past() async throws {
        let reactorctl = try await start()
        for count in [1, 10] { try await add(count, reactorctl) }
        let snapshot = try await reactorctl("snapshot")
        #expect(snapshot.code == 0 && snapshot.output.contains(#"/data/snapshot-"#))
        for count in [100, 1_000] { try await add(count, reactorctl) }
        for (revision, count) in [("1", 1), ("2", 11), ("3", 111), ("4", 1_111)] {
            let run = try await reactorctl("get", "/visits/count", "--at", revision)
            #expect(run.output == "\(count)\n")
        }
        let late = try await reactorctl("get", "/visits", "--at", "9")
        #expect(late.code == 66 && late.errors.contains("which ends at"))
        #expect(try await reactorctl("get", "/nobody", "--at", "1").code == 66)
        #expect(try await reactorctl("get", "/visits", "--at", "soon").code == 2)
    }

    @Test("an export can be imported elsewhere, completely or not at all, in a new epoch")
    func exportAndImport() async throws {
        let reactorctl = try await start()
        try await add(42, reactorctl)
        let exported = try await reactorctl("export", "/visits")
        #expect(
            exported.output
                == "{\"path\":\"/visits\",\"reactor\":\"Counter\",\"state\":{\"count\":42}}\n")
        try await add(1, reactorctl)
        let before = try await reactorctl("get", "--revision", "/visits").output
        #expect(try await reactord("import", "-", input: exported.output).code == .exited(69))
        await reactorctl.daemon.stop()
        let bad = exported.output + #"{"path":"/visits","state":{"count":"many"}}"#
        let refused = try await reactord("import", "-", input: bad)
        #expect(refused.code == .exited(65) && refused.errors.contains("line 2"))
        let nothing = try await reactord("import", "-", input: "\n")
        #expect(nothing.code == .exited(65) && nothing.errors.contains("no state"))
        #expect(try await reactord("replay").output.contains(#""visits":{"count":43}"#))
        #expect(try await reactord("import", "-", input: exported.output).code == .exited(0))
        let again = try await start()
        #expect(try await again("get", "/visits/count").output == "42\n")
        let after = try await again("get", "--revision", "/visits").output
        #expect(after.prefix(30) != before.prefix(30))
        let never = try await again("get", "/visits", "--at", "1")
        #expect(never.code == 66 && never.errors.contains("its epoch begins at"))
        #expect(try await again("log").output.contains(#""imported":["/visits"]"#))
        await again.daemon.kill9()
        #expect(try await start()("get", "/visits/count").output == "42\n")
    }

    @Test("a backup of a running daemon is a data directory from which another starts")
    func backup() async throws {
        let reactorctl = try await start()
        try await add(3, reactorctl)
        _ = try await reactorctl("snapshot")
        try await add(4, reactorctl)
        let path = directory.path("backup")
        #expect(try await reactorctl("backup", path).code == 0)
        let again = try await reactorctl("backup", path)
        #expect(again.code == 73 && again.errors.contains("\(path) exists already"))
        let salvaged = try await reactord("doctor", path, "--salvage", path)
        #expect(salvaged.code == .exited(73) && salvaged.errors.contains("exists already"))
        try await add(100, reactorctl)
        let files = try FileManager.default.contentsOfDirectory(atPath: path)
        for name in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        #expect(try await reactord("doctor", path).code == .exited(0))
        let until = try await reactord("replay", path, "--until", "1")
        #expect(until.output.contains(#""visits":{"count":3}"#))
        #expect(try await reactord("replay", path, "--until", "9").code == .exited(65))
        let old = try await reactorctl("get", "--revision", "/visits").output
        await reactorctl.daemon.stop()
        let other =
            "data: { directory: \(path) }\nreactors: { visits: { kind: counter }, "
            + "settings: { kind: map } }\n"
        let restored = try await start(other)
        #expect(try await restored("get", "/visits/count").output == "7\n")
        let new = try await restored("get", "--revision", "/visits").output
        #expect(new.prefix(30) != old.prefix(30))
        try await add(1, restored)
        await restored.daemon.kill9()
        #expect(try await start(other)("get", "/visits/count").output == "8\n")
    }

    @Test("a backup is written to the given path, whatever its name")
    func backupName() async throws {
        let reactorctl = try await start()
        let path = directory.path("my disk, t\u{e4}gl %20")
        let run = try await reactorctl("backup", path)
        #expect(run.code == 0)
        #expect(FileManager.default.fileExists(atPath: path + "/journal.sqlite"))
    }

    @Test("a backup without a snapshot can be replayed up to a sequence too")
    func replayBackup() async throws {
        let reactorctl = try await start()
        for count in [3, 4] { try await add(count, reactorctl) }
        let path = directory.path("backup")
        #expect(try await reactorctl("backup", path).code == 0)
        let run = try await reactord("replay", path, "--until", "1")
        #expect(run.output.contains(#""visits":{"count":3}"#))
    }

    @Test("replay shows the state of a stopped daemon, at the end or earlier, and changes nothing")
    func replay() async throws {
        let reactorctl = try await start()
        for count in [5, 6] { try await add(count, reactorctl) }
        let inUse = try await reactord("replay")
        #expect(inUse.code == .exited(69) && inUse.errors.contains("already used by pid"))
        await reactorctl.daemon.stop()
        #expect(try await reactord("replay").output.contains(#""visits":{"count":11}"#))
        let until = try await reactord("replay", "--until", "1")
        #expect(until.output.contains(#""visits":{"count":5}"#))
        #expect(try await reactord("replay", "--until", "3").code == .exited(65))
    }

    @Test("doctor reports damage with 78, and salvages a directory from which a daemon starts")
    func doctor() async throws {
        let reactorctl = try await start()
        try await add(5, reactorctl)
        await reactorctl.daemon.stop()
        let data = directory.path("data")
        #expect(try await reactord("doctor", data).code == .exited(0))
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: data).first {
                $0.hasPrefix("snapshot-") && $0.hasSuffix(".sqlite")
            })
        let file = URL(filePath: data + "/" + name)
        var bytes = try Data(contentsOf: file)
        bytes.removeLast(bytes.count / 2)
        try bytes.write(to: file)
        let sick = try await reactord("doctor", data, "--salvage", directory.path("good"))
        #expect(sick.code == .exited(78) && sick.output.contains(name))
        #expect(sick.output.contains("salvaged into"))
        #expect(try await reactord("doctor", directory.path("good")).code == .exited(0))
        #expect(try await reactord("doctor", directory.path("none")).code == .exited(69))
    }

    @Test("a reactor missing in the configuration is refused by name, unless it is dropped")
    func dropped() async throws {
        let reactorctl = try await start()
        try await add(5, reactorctl)
        await reactorctl.daemon.stop()
        let less = config("  settings: { kind: map }\n")
        let refused = try await DaemonProcess.run(config: less, in: directory)
        #expect(refused.ending == .exited(78) && refused.log.contains("a reactor at /visits"))
        let checked = try await reactord("--check", config: less)
        #expect(checked.code == .exited(78) && checked.errors.contains("a reactor at /visits"))
        let dropping = config("  settings: { kind: map }\n", data: "  dropped: /visits\n")
        let accepted = try await reactord("--check", config: dropping)
        #expect(accepted.output.contains("/visits is dropped"))
        let daemon = try await start(dropping)
        #expect(try await daemon("get", "/").output == "{\"settings\":{\"entries\":{}}}\n")
    }

    @Test("a reactor of another kind is refused with both names, unless it is dropped")
    func changedKind() async throws {
        let reactorctl = try await start()
        try await add(41, reactorctl)
        await reactorctl.daemon.kill9()
        let other = "  visits: { kind: map }\n  settings: { kind: map }\n"
        let text = "the history has a Counter at /visits, and the daemon has a Map there"
        for _ in ["from rows", "from a snapshot"] {
            let refused = try await DaemonProcess.run(config: config(other), in: directory)
            #expect(refused.ending == .exited(78) && refused.log.contains(text), "\(refused.log)")
            let checked = try await reactord("--check", config: config(other))
            #expect(checked.code == .exited(78) && checked.errors.contains(text))
            let again = try await start()
            #expect(try await again("get", "/visits/count").output == "41\n")
            await again.daemon.stop()
        }
        let dropping = config(other, data: "  dropped: /visits\n")
        let accepted = try await reactord("--check", config: dropping)
        #expect(accepted.output.contains("/visits is dropped, and begins as Map"))
        let daemon = try await start(dropping)
        #expect(try await daemon("get", "/visits").output == "{\"entries\":{}}\n")
    }

    @Test("--check describes the effects of a start on the data")
    func check() async throws {
        #expect(try await reactord("--check").output.contains("is created, and a history begins"))
        let reactorctl = try await start()
        try await add(5, reactorctl)
        let beside = try await reactord("--check")
        #expect(beside.output.contains("is in use by pid"))
        #expect(beside.code == .exited(69) && beside.errors.contains("is already used by pid"))
        await reactorctl.daemon.kill9()
        let more = config(
            "  visits: { kind: counter }\n  new: { kind: counter }\n"
                + "  settings: { kind: map }\n")
        let run = try await reactord("--check", config: more)
        #expect(run.code == .exited(0))
        #expect(run.output.contains("starts from the first row"))
        #expect(run.output.contains("/new is new"))
    }

    @Test("no history is created in a directory without one, except by an import with --new")
    func wrongPlace() async throws {
        let data = directory.path("data")
        let run = try await reactord("rebaseline")
        #expect(run.code == .exited(65) && run.errors.contains("\(data) contains no history"))
        let line = #"{"path":"/visits","state":{"count":7}}"#
        let refused = try await reactord("import", "-", input: line)
        #expect(refused.code == .exited(65) && refused.errors.contains("--new"))
        #expect(!FileManager.default.fileExists(atPath: data))
        let made = try await reactord("import", "--new", "-", input: line)
        #expect(made.code == .exited(0) && made.output.contains("into \(data), at"))
        #expect(try await start()("get", "/visits/count").output == "7\n")
        let nowhere =
            "data: { directory: \(directory.path("a/b/c")) }\nreactors:\n"
            + "  visits: { kind: counter }\n"
        let checked = try await reactord("--check", config: nowhere)
        #expect(checked.code == .exited(69) && checked.errors.contains("is missing"))
    }

    @Test("an export shows objects owned by connections as if these had ended")
    func exportedOwnership() async throws {
        let reactorctl = try await start(config("  lock: { kind: lock }\n"))
        let client = try await Client.connect(to: reactorctl.daemon.socketPath)
        let lock = try await client.mirror(StockReactors.Lock.self, at: "/lock")
        #expect(await lock.dispatch(.acquire()).revision != nil)
        #expect(lock.holder != nil)
        let exported = try await reactorctl("export", "/lock").output
        #expect(exported.contains(#""holder":null"#) && exported.contains(#""lastToken":1"#))
        client.close()
    }

    @Test("X116: a peer's text cannot control the terminal, and is shown escaped")
    func terminal() async throws {
        let name = "a\u{202e}b"
        let reactorctl = try await start(config("  \"\(name)\": { kind: counter }\n"))
        let run = try await reactorctl("dispatch", "/\(name)", #"{"increment":{"by":5}}"#)
        #expect(run.code == 0)
        let terminal = try ChildProcess(
            "/usr/bin/env",
            [
                "python3", "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)",
                Built.product("reactorctl"), "log", "--socket", reactorctl.daemon.socketPath,
            ], in: directory, name: "terminal")
        #expect(await terminal.ended() == .exited(0))
        #expect(terminal.output.contains(#""/a\u202eb" {"increment":{"by":5}}"#))
        #expect(!terminal.output.unicodeScalars.contains("\u{202e}"))
    }

    @Test("a snapshot of an unchanged state is not written again")
    func sameSnapshot() async throws {
        let reactorctl = try await start()
        // A minute after a change, a checksum of the state is a row of the journal.
        let run = try await reactorctl.run(
            script: #"""
                client dispatch /visits '{"increment":{"by":5}}' >/dev/null
                for i in 1 2; do
                    client snapshot
                    ls -i "$DIRECTORY"/data/snapshot-*
                done
                client dispatch /visits '{"increment":{"by":6}}' >/dev/null
                client snapshot
                """#)
        #expect(run.code == 0, "\(run.errors)")
        let lines = run.lines
        try #require(lines.count == 5, "\(lines)")
        #expect(lines[0].contains("snapshot-") && lines[2] == lines[0])
        #expect(lines[3] == lines[1], "the same file with the same inode")
        #expect(lines[4] != lines[0])
    }

    @Test("rebaseline makes the replayed state the start of a new epoch")
    func rebaseline() async throws {
        let reactorctl = try await start()
        try await add(5, reactorctl)
        let before = try await reactorctl("get", "--revision", "/visits").output
        await reactorctl.daemon.kill9()
        let run = try await reactord("rebaseline")
        #expect(run.code == .exited(0) && run.output.contains("took a snapshot of row"))
        let again = try await start()
        #expect(try await again("get", "/visits/count").output == "5\n")
        #expect(
            try await again("get", "--revision", "/visits").output.prefix(30) != before.prefix(30))
        #expect(try await again("get", "/visits/count", "--at", "1").code == 0)
    }

    @Test("dispatch --wait durable works with a data directory, and is refused in memory")
    func durable() async throws {
        let add = #"{"increment":{"by":5}}"#
        let relaxed = try await start(config(data: "  durability: relaxed\n"))
        let run = try await relaxed("dispatch", "--wait", "durable", "/visits", add)
        #expect(run.code == 0 && run.output.contains(#""outcome":"applied""#))
        let memory = Reactorctl(daemon: try await DaemonProcess.start())
        let refused = try await memory("dispatch", "--wait", "durable", "/visits", add)
        #expect(refused.code == 1 && refused.output.contains(#""code":"HISTORY""#))
        #expect(try await memory("get", "/visits/count").output == "0\n")
        for command in ["log", "snapshot", "export"] {
            let refused = try await memory(command)
            #expect(refused.code == 66 && refused.errors.contains("in memory"))
        }
    }
}
