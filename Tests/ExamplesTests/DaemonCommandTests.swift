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

    @Test("clients learn the daemon's name")
    func name() async throws {
        let daemon = try await DaemonProcess.start("tracker-daemon", config: nil)
        let run = try await ClientProgram(daemon: daemon)("ping")
        #expect(run.output.contains(#""daemon":"tracker-daemon 1.0""#))
        #expect(await daemon.stop() == .exited(0))
        #expect(daemon.log.contains("tracker-daemon"))
    }
}
