import Foundation
import ReactorWire
import TestPrograms
import Testing

/// How `reactorctl` ends, and what it says, when the world goes another way.
@Suite("How reactorctl ends", .timeLimit(.minutes(10)))
struct ReactorctlEndTests {
    /// Runs a line of shell in which `ctl` is the client of a daemon.
    private func shell(_ line: String, of reactorctl: Reactorctl) throws -> ChildProcess {
        let setup =
            "ctl() { command=$1; shift; \(Built.product("reactorctl")) $command --socket "
            + "\(reactorctl.daemon.socketPath) \"$@\"; }; "
        return try ChildProcess(
            "/bin/sh", ["-c", setup + line], in: reactorctl.daemon.directory,
            name: UUID().uuidString)
    }

    @Test("output that cannot be written ends with 74 and says why; a closed pipe is no fault")
    func fullOutput() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let full = try shell("ctl get /visits > /dev/full", of: reactorctl)
        #expect(await full.ended() == .exited(74))
        #expect(full.errors.contains("No space left"))
        let closed = try shell("ctl tree | true", of: reactorctl)
        #expect(await closed.ended() == .exited(0))
    }

    @Test("actions of a pipe are applied as they come, not when the pipe ends")
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

    @Test("--timeout counts from the start, also where a daemon takes connections and is silent")
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

    @Test("what a daemon writes for people ends with 74 where it cannot be written")
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

    @Test("a data directory whose parent is missing is named as one to keep no data in: 69")
    func missingParent() async throws {
        let directory = TestDirectory()
        let path = directory.path("no/data")
        let run = try await DaemonProcess.run(
            config: "data:\n  directory: \(path)\n" + DaemonProcess.example, in: directory)
        #expect(run.ending == .exited(69))
        #expect(run.log.contains(path) && run.log.contains("missing"))
    }

    @Test("a log of a path that never was ends with 66, one of a quiet reactor with 0")
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

    @Test("actions without an end are refused when no action can be that long, not collected")
    func endlessLine() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let process = try shell(
            "(echo '{\"increment\":{}}'; tr '\\0' a < /dev/zero) | ctl dispatch /visits -",
            of: reactorctl)
        #expect(await process.ended() == .exited(65))
        #expect(process.errors.contains("line 2"))
        #expect(process.output.contains(#""applied":1"#))
    }
}

/// What a socket leads to, and what is believed of it.
@Suite("How reactorctl finds its daemon", .timeLimit(.minutes(10)))
struct ReactorctlSocketTests {
    /// Runs `get /visits` in an environment that leads somewhere.
    private func get(
        _ environment: [String: String], _ options: [String] = [], in directory: TestDirectory
    ) async throws -> (code: ChildProcess.Ending, errors: String) {
        let process = try ChildProcess(
            Built.product("reactorctl"), ["get", "/visits"] + options, environment: environment,
            in: directory, name: UUID().uuidString)
        return (await process.ended(), process.errors)
    }

    @Test("a socket that is named is the only one that is tried")
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

    @Test("a socket in a directory that others may write to is not talked to: 77")
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
        "a socket that another user serves is not talked to, unless that user is named",
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

    @Test(
        "a directory that this user may not look into ends the search: 77",
        .enabled(if: getuid() == 0 && FileManager.default.fileExists(atPath: "/usr/bin/setpriv")))
    func forbidden() async throws {
        let home = TestDirectory()
        let daemon = try await DaemonProcess.start(
            arguments: ["--socket", home.path("reactord.sock")], in: home)
        // The test's directory is closed to other users, and so may that of the products be.
        let program = "/tmp/reactorctl-\(UUID().uuidString)"
        try FileManager.default.copyItem(atPath: Built.product("reactorctl"), toPath: program)
        defer { try? FileManager.default.removeItem(atPath: program) }
        unsafe chmod(program, 0o755)
        let process = try ChildProcess(
            "/usr/bin/setpriv",
            ["--reuid=54321", "--regid=54321", "--clear-groups", program, "get", "/visits"],
            environment: ["XDG_RUNTIME_DIR": home.path], in: home, name: "forbidden")
        #expect(await process.ended() == .exited(77))
        #expect(process.errors.contains(home.path) && !process.errors.contains("/run/reactord"))
        await daemon.stop()
    }

    @Test("BUSY is waited out for some seconds, and ends with 75")
    func busy() async throws {
        let directory = TestDirectory()
        let bytes = HostileServer.frame(.closing, 0, Closing(.busy, "too many").wireBytes())
        let server = try #require(HostileServer(at: directory.path("s"), bytes))
        let run = try await get([:], ["--socket", server.path], in: directory)
        #expect(run.code == .exited(75) && run.errors.contains("too many"))
    }

    private static let hostile = "a\u{1b}[2J\u{9b}31m\u{202e}\r\nb"

    @Test("what a daemon says in an error cannot write to the terminal")
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
        "what a daemon says to a person cannot write to the terminal", arguments: ["tree", "stats"])
    func hostileText(command: String) async throws {
        let directory = TestDirectory()
        let body =
            command == "tree"
            ? [TreeEntry(path: "/" + Self.hostile, reactor: Self.hostile, sequence: 1)].wireBytes()
            : [Self.hostile: UInt64(7)].wireBytes()
        let server = try #require(
            HostileServer(
                at: directory.path("s"), HostileServer.greeting([(.answer, 1, body)])))
        // A terminal is what people look at: python has one to give.
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

    /// Whether nothing but printable text and ends of lines is there.
    private func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || scalar == "\r" || scalar.value >= 0x20 && scalar.value < 0x7f
        }
    }
}
