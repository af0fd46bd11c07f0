import Foundation
import TestPrograms
import Testing

@Suite("An author's daemon as a process", .timeLimit(.minutes(10)))
struct DaemonCommandTests {
    @Test("with its reactors in code, a daemon needs no configuration")
    func noConfig() async throws {
        let run = try await DaemonProcess.run(
            "tracker-daemon", config: nil, arguments: ["--check"])
        #expect(run.ending == .exited(0))
        #expect(run.output.contains("(in the daemon's code)"))
    }

    @Test("a daemon that keeps no data says so at its start, and names the remedy")
    func noData() async throws {
        let memory = try await DaemonProcess.start("tracker-daemon", config: nil)
        #expect(await memory.stop() == .exited(0))
        let lines = memory.log.split(separator: "\n").filter { $0.contains("in memory") }
        #expect(lines.count == 1, "\(memory.log)")
        #expect(lines.first?.contains("add `data:` to the configuration") == true)
        let directory = TestDirectory()
        let kept = try await DaemonProcess.start(
            "tracker-daemon", config: "data:\n  directory: \(directory.path("data"))\n",
            in: directory)
        #expect(await kept.stop() == .exited(0))
        #expect(kept.log.contains("ready") && !kept.log.contains("in memory"))
    }

    @Test("an author decides what a daemon without a configuration keeps, a file decides otherwise")
    func keepsData() async throws {
        let directory = TestDirectory()
        func data(_ program: String, config: String? = nil) async throws -> String? {
            let run = try await DaemonProcess.run(
                program, config: config, arguments: ["--check"],
                environment: ["STATE_DIRECTORY": directory.path("state")])
            #expect(run.ending == .exited(0), "\(run.log)")
            let lines = run.output.split(separator: "\n")
            return lines.firstIndex(of: "data").map { String(lines[$0 + 1]) }
        }
        let place = try await data("deploy-daemon")
        #expect(place?.hasSuffix("\(directory.path("state")) ($STATE_DIRECTORY)") == true)
        for none in [
            try await data("tracker-daemon"),
            try await data("deploy-daemon", config: "log: { level: info }"),
        ] {
            #expect(none?.contains("in memory") == true, "\(none ?? "")")
        }
    }

    @Test("a daemon in code uses a configuration without reactors, and refuses one with reactors")
    func config() async throws {
        let run = try await DaemonProcess.run(
            "tracker-daemon", config: "limits: { inFlightMax: 7 }", arguments: ["--check"])
        #expect(run.ending == .exited(0))
        #expect(run.output.contains("7 (set)"))
        let refused = try await DaemonProcess.run("tracker-daemon", arguments: ["--check"])
        #expect(refused.ending == .exited(65))
        #expect(refused.log.hasPrefix("tracker-daemon: "))
        #expect(refused.log.contains("are defined in its code: remove the section"))
    }

    @Test("a daemon whose reactors are configured asks for the missing configuration")
    func missingConfig() async throws {
        let run = try await DaemonProcess.run(config: nil)
        #expect(run.ending == .exited(64))
        #expect(run.log.contains("--config <file>"))
    }

    @Test("a daemon's help lists its options and exit codes, and its version is the program's own")
    func help() async throws {
        let help = try await DaemonProcess.run(
            "tracker-daemon", config: nil, arguments: ["--help"])
        #expect(help.ending == .exited(0))
        for word in ["tracker-daemon", "--config", "--socket", "--check", "--version", "65", "69"] {
            #expect(help.output.contains(word), "\(word)")
        }
        let version = try await DaemonProcess.run(
            "tracker-daemon", config: nil, arguments: ["--version"])
        #expect(version.output == "1.0\n")
    }

    /// Starts a program with a run-time directory of the test's and no named socket.
    private func start(
        _ program: String, _ arguments: [String] = [], _ environment: [String: String] = [:],
        in home: TestDirectory
    ) throws -> ChildProcess {
        try ChildProcess(
            Built.product(program), arguments,
            environment: ["XDG_RUNTIME_DIR": home.path].merging(environment) { $1 }, in: home,
            name: "\(program)-\(UUID().uuidString)")
    }

    @Test("daemons of several authors run beside each other, and each client finds its own")
    func beside() async throws {
        let home = TestDirectory()
        let daemons = try ["tracker-daemon", "login-daemon"].map { try start($0, in: home) }
        for name in ["tracker-daemon", "login-daemon"] {
            #expect(await holds { DaemonProcess.accepts(home.path("\(name).sock")) })
        }
        let opened = try start("tracker", ["open", "Login is slow"], in: home)
        #expect(await opened.ended() == .exited(0))
        let typed = try ChildProcess(
            Built.product("login-demo"), ["type"], environment: ["XDG_RUNTIME_DIR": home.path],
            input: "user ada\n", in: home, name: "type")
        #expect(await typed.ended() == .exited(0))
        let user = try start(
            "reactorctl", ["--daemon", "login-daemon", "get", "/user"], in: home)
        #expect(await user.ended() == .exited(0))
        #expect(user.output.contains("ada"))
        let check = try start("tracker-daemon", ["--check"], in: home)
        #expect(await check.ended() == .exited(0))
        #expect(check.output.contains("\(home.path)/tracker-daemon.sock ($XDG_RUNTIME_DIR)"))
        for daemon in daemons {
            daemon.signal(SIGTERM)
            #expect(await daemon.ended() == .exited(0))
        }
    }

    @Test("a client of the library with a named socket reaches no daemon at a default place")
    func namedSocket() async throws {
        let home = TestDirectory()
        let daemon = try start("tracker-daemon", in: home)
        #expect(await holds { DaemonProcess.accepts(home.path("tracker-daemon.sock")) })
        let missing = home.path("none.sock")
        let list = try start("tracker", ["list"], in: home)
        #expect(await list.ended() == .exited(0))
        for (arguments, environment) in [
            (["list", "--socket", missing], [:]), (["list"], ["REACTORD_SOCKET": missing]),
        ] {
            let run = try start("tracker", arguments, environment, in: home)
            #expect(await run.ended() != .exited(0))
            #expect(run.errors.contains("none.sock"))
            #expect(!run.errors.contains("tracker-daemon.sock"))
        }
        // The daemon of another author, at its own default place, is not meant either.
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0))
        let other = try start("login-daemon", in: home)
        #expect(await holds { DaemonProcess.accepts(home.path("login-daemon.sock")) })
        let gone = try start("tracker", ["list"], in: home)
        #expect(await gone.ended() != .exited(0))
        #expect(!gone.errors.contains("login-daemon.sock"))
        other.signal(SIGTERM)
        #expect(await other.ended() == .exited(0))
    }

    @Test("clients learn the daemon's name")
    func name() async throws {
        let daemon = try await DaemonProcess.start("tracker-daemon", config: nil)
        let run = try await ClientProgram(daemon: daemon)("ping")
        #expect(run.output.contains(#""daemon":"tracker-daemon 1.0""#))
        #expect(await daemon.stop() == .exited(0))
        #expect(daemon.log.contains("tracker-daemon"))
    }
}
