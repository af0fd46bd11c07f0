import Foundation
import ReactorWire
import TestPrograms
import Testing

/// The exit codes and errors of `reactorctl` under failures.
@Suite("The end of reactorctl", .timeLimit(.minutes(10)))
struct ReactorctlEndTests {
    /// Runs a shell command in which `ctl` is the client of a daemon.
    private func shell(_ line: String, of reactorctl: Reactorctl) throws -> ChildProcess {
        let setup =
            "ctl() { command=$1; shift; \(Built.product("reactorctl")) $command --socket "
            + "\(reactorctl.daemon.socketPath) \"$@\"; }; "
        return try ChildProcess(
            "/bin/sh", ["-c", setup + line], in: reactorctl.daemon.directory,
            name: UUID().uuidString)
    }

    @Test("unwritable output ends with 74 and the reason; a closed pipe of a query is not an error")
    func fullOutput() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let full = try shell("ctl get /visits > /dev/full", of: reactorctl)
        #expect(await full.ended() == .exited(74))
        #expect(full.errors.contains("No space left"))
        let closed = try shell("ctl tree | true", of: reactorctl)
        #expect(await closed.ended() == .exited(0))
    }

    @Test("a closed pipe ends dispatch of a stream with 74, and a rejected action with 1")
    func closedPipe() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let code = reactorctl.daemon.directory.path("code")
        let many = try shell(
            "yes '{\"increment\":{}}' "
                + "| { ctl dispatch /visits - --each; echo $? > \(code); } | head -1",
            of: reactorctl)
        #expect(await many.ended() == .exited(0))
        #expect(reactorctl.daemon.directory.read("code") == "74\n")
        #expect(many.errors.contains("standard output was closed before all outcomes"))
        let rejected = try shell(
            "{ ctl dispatch /team/lock '{\"release\":{\"token\":7}}'; echo $? > \(code); } | true",
            of: reactorctl)
        #expect(await rejected.ended() == .exited(0))
        #expect(reactorctl.daemon.directory.read("code") == "1\n")
    }

    @Test("the path of a field is refused with the path of its reactor")
    func fieldPath() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        for command in [["dispatch", "{}"], ["describe"]] {
            let process = try reactorctl.start(
                [command[0], "/visits/count"] + command.dropFirst(), name: command[0])
            #expect(await process.ended() == .exited(66))
            #expect(process.errors.contains("/visits/count is in the state of the reactor /visits"))
        }
    }

    @Test("watch reports a lost connection and the next one, and continues")
    func lostWatch() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let watcher = try reactorctl.start(["watch", "/visits"], name: "watcher")
        #expect(await watcher.says(#"{"count":0}"#))
        await reactorctl.daemon.kill9()
        while !watcher.errors.contains("lost the connection") { await Task.yield() }
        let again = Reactorctl(
            daemon: try await DaemonProcess.start(in: reactorctl.daemon.directory))
        while !watcher.errors.contains("again") { await Task.yield() }
        _ = try await again("dispatch", "/visits", #"{"increment":{"by":3}}"#)
        #expect(await watcher.says(#"{"count":3}"#))
        watcher.signal(SIGTERM)
    }

    @Test("actions from a pipe are applied as they arrive, not when the pipe ends")
    func stream() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let writer = try shell(
            "(echo '{\"increment\":{\"by\":7}}'; sleep 60; echo '{\"increment\":{}}') "
                + "| ctl dispatch /visits -",
            of: reactorctl)
        let watcher = try reactorctl.start(["wait", "/visits/count", "--equals", "7"], name: "w")
        #expect(await watcher.ended() == .exited(0))
        writer.signal(SIGTERM)
    }

    @Test(
        "a signal during dispatch of a stream prints what was sent and applied, then ends it",
        arguments: [SIGTERM, SIGINT])
    func signalledStream(signal: Int32) async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let (directory, socket) = (reactorctl.daemon.directory, reactorctl.daemon.socketPath)
        let pipe = directory.path("actions")
        let writer = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                // Opened for writing too, so that the stream has no end.
                "mkfifo \(pipe); echo '{\"increment\":{\"by\":7}}' > \(pipe) & "
                    + "exec \(Built.product("reactorctl")) dispatch --socket \(socket) /visits - "
                    + "<> \(pipe)",
            ], in: directory, name: "writer")
        let watcher = try reactorctl.start(["wait", "/visits/count", "--equals", "7"], name: "w")
        #expect(await watcher.ended() == .exited(0))
        writer.signal(signal)
        #expect(await writer.ended() == .killed(signal: signal))
        #expect(writer.errors.contains("stopped by"))
        #expect(writer.errors.contains("after 1 actions were sent"))
        // The watcher may have its update before the writer has its outcome.
        let summary = try #require(writer.output.split(separator: "\n").last)
        #expect(summary.contains(#""applied":1"#) || summary.contains(#""unknown":1"#))
    }

    @Test("--timeout counts from the start, also if a daemon accepts and does not answer")
    func silentDaemon() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        reactorctl.daemon.signal(SIGSTOP)
        let run = try await reactorctl(
            "wait", "/visits/count", "--equals", "7", "--timeout", "300ms")
        reactorctl.daemon.signal(SIGCONT)
        #expect(run.code == 124)
        #expect(run.errors.contains("within 300ms"))
    }

    @Test("help and version that cannot be written end with 74")
    func fullHelp() async throws {
        for call in ["--help", "dispatch --help", "--version"] {
            let process = try ChildProcess(
                "/bin/sh", ["-c", "\(Built.product("reactorctl")) \(call) > /dev/full"],
                in: TestDirectory(), name: "full")
            #expect(await process.ended() == .exited(74))
            #expect(process.errors.contains("No space left"))
        }
    }

    @Test("unwritable output of --check ends with 74")
    func fullCheck() async throws {
        let directory = TestDirectory()
        let config = try directory.write(DaemonProcess.example, to: "c.yaml")
        let process = try ChildProcess(
            "/bin/sh",
            ["-c", "\(Built.product("reactord")) --check --config \(config) > /dev/full"],
            in: directory, name: "full")
        #expect(await process.ended() == .exited(74))
        #expect(process.errors.contains("cannot be written"))
    }

    @Test("a start in a data directory without a parent is refused with 69")
    func missingParent() async throws {
        let directory = TestDirectory()
        let path = directory.path("no/data")
        let run = try await DaemonProcess.run(
            config: "data:\n  directory: \(path)\n" + DaemonProcess.example, in: directory)
        #expect(run.ending == .exited(69))
        #expect(run.log.contains(path) && run.log.contains("missing"))
    }

    @Test("the log of a path that never existed ends with 66, of a reactor without entries with 0")
    func logOfNothing() async throws {
        let directory = TestDirectory()
        let reactorctl = Reactorctl(
            daemon: try await DaemonProcess.start(
                config: "data:\n  directory: \(directory.path("data"))\n" + DaemonProcess.example,
                in: directory))
        let nothing = try await reactorctl("log", "/vists")
        #expect(nothing.code == 66 && nothing.errors.contains("/visits"))
        let following = try await reactorctl("log", "/vists", "--follow")
        #expect(following.code == 66)
        let quiet = try await reactorctl("log", "/visits")
        #expect(quiet.code == 0 && quiet.output == "" && quiet.errors == "")
        let backup = try await reactorctl("backup", directory.path("no/backup"))
        #expect(backup.code == 66 && backup.errors.contains("missing"))
    }

    @Test("a line without an end is refused as soon as it exceeds an action's size")
    func endlessLine() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let process = try shell(
            "(echo '{\"increment\":{}}'; tr '\\0' a < /dev/zero) | ctl dispatch /visits -",
            of: reactorctl)
        #expect(await process.ended() == .exited(65))
        #expect(process.errors.contains("line 2"))
        #expect(process.output.contains(#""applied":1"#))
    }

    @Test("a line that is not UTF-8 is refused, and not changed")
    func notText() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let process = try shell(
            #"printf '{"set":{"key":"a","value":"\377"}}\n' | ctl dispatch /settings -"#,
            of: reactorctl)
        #expect(await process.ended() == .exited(65))
        #expect(process.errors.contains("line 1: not UTF-8"))
    }
}

/// The socket that `reactorctl` chooses, and its checks of the peer.
@Suite("The socket of reactorctl", .timeLimit(.minutes(10)))
struct ReactorctlSocketTests {
    /// Runs `get /visits` in an environment that selects a socket.
    private func get(
        _ environment: [String: String], _ options: [String] = [], in directory: TestDirectory
    ) async throws -> (code: ChildProcess.Ending, errors: String) {
        let process = try ChildProcess(
            Built.product("reactorctl"), ["get", "/visits"] + options, environment: environment,
            in: directory, name: UUID().uuidString)
        return (await process.ended(), process.errors)
    }

    @Test("a given socket is the only one that is tried")
    func named() async throws {
        let home = TestDirectory()
        let daemon = try await DaemonProcess.start(
            arguments: ["--socket", home.path("reactord.sock")], in: home)
        let found = try await get(["XDG_RUNTIME_DIR": home.path], in: home)
        #expect(found.code == .exited(0))
        let other = try await get(
            ["XDG_RUNTIME_DIR": home.path, "REACTORD_SOCKET": home.path("none.sock")], in: home)
        #expect(other.code == .exited(69))
        #expect(other.errors.contains("none.sock") && !other.errors.contains("/reactord.sock"))
        await daemon.stop()
    }

    @Test("a daemon is found by its name, and no name leads to another daemon")
    func byName() async throws {
        let home = TestDirectory()
        let other = try await DaemonProcess.start(
            arguments: ["--socket", home.path("reactord.sock")], in: home)
        let daemon = try await DaemonProcess.start(
            "tracker-daemon", config: nil,
            arguments: ["--socket", home.path("tracker-daemon.sock")], in: home)
        let runtime = ["XDG_RUNTIME_DIR": home.path]
        let named = ["--daemon", "tracker-daemon"]
        // The tracker has no such reactor, and the other daemon has one.
        let found = try await get(runtime, named, in: home)
        #expect(found.code == .exited(66))
        #expect(try await get(runtime, in: home).code == .exited(0))
        await daemon.stop()
        let gone = try await get(runtime, named, in: home)
        #expect(gone.code == .exited(69) && gone.errors.contains("tracker-daemon.sock"))
        #expect(!gone.errors.contains("/reactord.sock"))
        let wrong = try await get(runtime, ["--daemon", "a/b"], in: home)
        #expect(wrong.code == .exited(69) && wrong.errors.contains("slash"))
        await other.stop()
    }

    @Test("--socket comes before REACTORD_SOCKET, and both before --daemon; none falls through")
    func order() async throws {
        let home = TestDirectory()
        let daemon = try await DaemonProcess.start(
            arguments: ["--socket", home.path("reactord.sock")], in: home)
        let missing = home.path("none.sock")
        let runtime = ["XDG_RUNTIME_DIR": home.path]
        let variable = runtime.merging(["REACTORD_SOCKET": missing]) { $1 }
        for (environment, options) in [
            (runtime, ["--socket", missing]), (variable, []),
            (variable, ["--daemon", "reactord"]),
            (runtime, ["--socket", missing, "--daemon", "reactord"]),
            (["REACTORD_SOCKET": daemon.socketPath], ["--socket", missing]),
        ] {
            let run = try await get(environment, options, in: home)
            #expect(run.code == .exited(69), "\(options)")
            #expect(run.errors.contains("none.sock") && !run.errors.contains("/reactord.sock"))
        }
        let chosen = try await get(variable, ["--socket", daemon.socketPath], in: home)
        #expect(chosen.code == .exited(0))
        await daemon.stop()
    }

    @Test("a socket in a directory that other users may write to is refused: 77")
    func openDirectory() async throws {
        let directory = TestDirectory()
        let bytes = HostileServer.frame(.closing, 0, Closing(.version, "heard you").wireBytes())
        let server = try #require(HostileServer(at: directory.path("s"), bytes))
        let heard = try await get([:], ["--socket", server.path], in: directory)
        #expect(heard.errors.contains("heard you"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: directory.path)
        let run = try await get([:], ["--socket", server.path], in: directory)
        #expect(run.code == .exited(77))
        #expect(run.errors.contains("777") && !run.errors.contains("heard you"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700], ofItemAtPath: directory.path)
    }

    @Test(
        "a socket of another user is refused, unless that user is named",
        .enabled(if: getuid() == 0 && FileManager.default.fileExists(atPath: "/usr/bin/setpriv")))
    func strangersSocket() async throws {
        let directory = TestDirectory()
        unsafe chown(directory.path, 54_321, 54_321)
        let script = """
            import socket, sys
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen()
            print("on", flush=True)
            while True:
                client, _ = listener.accept()
                print("said", len(client.recv(1)), flush=True)
            """
        let server = try ChildProcess(
            "/usr/bin/setpriv",
            [
                "--reuid=54321", "--regid=54321", "--clear-groups", "/usr/bin/python3", "-c",
                script,
                directory.path("s"),
            ], in: directory, name: "stranger")
        #expect(await server.says("on"))
        let run = try await get([:], ["--socket", directory.path("s")], in: directory)
        #expect(run.code == .exited(77) && run.errors.contains("54321"))
        #expect(await server.says("said 0"))
        let named = try await get(
            [:], ["--socket", directory.path("s"), "--daemon-uid", "54321"], in: directory)
        #expect(named.code == .exited(75))
        #expect(server.output.contains("said 1"))
        server.signal(SIGKILL)
    }

    // [WIRE-1-3]
    @Test(
        "a directory without permission ends the search: 77",
        .enabled(if: getuid() == 0 && FileManager.default.fileExists(atPath: "/usr/bin/setpriv")))
    func forbidden() async throws {
        let home = TestDirectory()
        let daemon = try await DaemonProcess.start(
            arguments: ["--socket", home.path("reactord.sock")], in: home)
        // The test's directory is closed to other users, and the products' directory may be too.
        let program = "/tmp/reactorctl-\(UUID().uuidString)"
        try await home.install(Built.product("reactorctl"), at: program)
        defer { try? FileManager.default.removeItem(atPath: program) }
        let process = try ChildProcess(
            "/usr/bin/setpriv",
            ["--reuid=54321", "--regid=54321", "--clear-groups", program, "get", "/visits"],
            environment: ["XDG_RUNTIME_DIR": home.path], in: home, name: "forbidden")
        #expect(await process.ended() == .exited(77))
        #expect(process.errors.contains(home.path) && !process.errors.contains("/run/reactord"))
        await daemon.stop()
    }

    @Test("reactorctl retries BUSY for some seconds, and then ends with 75")
    func busy() async throws {
        let directory = TestDirectory()
        let bytes = HostileServer.frame(.closing, 0, Closing(.busy, "too many").wireBytes())
        let server = try #require(HostileServer(at: directory.path("s"), bytes))
        let run = try await get([:], ["--socket", server.path], in: directory)
        #expect(run.code == .exited(75) && run.errors.contains("too many"))
    }

    private static let hostile = "a\u{1b}[2J\u{9b}31m\u{202e}\r\nb"

    @Test("a daemon's error texts cannot control the terminal")
    func hostileErrors() async throws {
        let directory = TestDirectory()
        let refusal = Refusal(.notFound, Self.hostile, nearest: Self.hostile).wireBytes()
        let closing = Closing(.version, Self.hostile).wireBytes()
        let streams = [
            HostileServer.frame(.closing, 0, closing),
            HostileServer.greeting([(.refused, 1, refusal)]),
        ]
        for (number, bytes) in streams.enumerated() {
            let server = try #require(HostileServer(at: directory.path("s\(number)"), bytes))
            let run = try await get([:], ["--socket", server.path], in: directory)
            #expect(run.errors.contains(#"a\u{1b}[2J"#))
            #expect(isHarmless(run.errors))
        }
    }

    @Test(
        "a daemon's answers cannot control the terminal", arguments: ["tree", "stats"])
    func hostileText(command: String) async throws {
        let directory = TestDirectory()
        let body =
            command == "tree"
            ? [TreeEntry(path: "/" + Self.hostile, reactor: Self.hostile, sequence: 1)].wireBytes()
            : [Self.hostile: UInt64(7)].wireBytes()
        let server = try #require(
            HostileServer(
                at: directory.path("s"), HostileServer.greeting([(.answer, 1, body)])))
        // Python provides a pseudoterminal.
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "python3", "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)",
                Built.product("reactorctl"), command, "--socket", server.path,
            ], in: directory, name: "person")
        #expect(await process.ended() == .exited(0))
        #expect(process.output.contains(#"a\u{1b}[2J"#))
        #expect(isHarmless(process.output))
    }

    /// Whether the text has only printable ASCII and line ends.
    private func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || scalar == "\r" || scalar.value >= 0x20 && scalar.value < 0x7f
        }
    }
}
