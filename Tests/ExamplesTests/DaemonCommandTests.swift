import TestPrograms
import Testing

@Suite("A daemon of an author's, as a process", .timeLimit(.minutes(10)))
struct DaemonCommandTests {
    @Test("with its reactors in code it needs no configuration")
    func noConfig() async throws {
        let run = try await DaemonProcess.run(
            "tracker-daemon", config: nil, arguments: ["--check"])
        #expect(run.ending == .exited(0))
        #expect(run.output.contains("(in the daemon's code)"))
    }

    @Test("it obeys a configuration without reactors, and refuses one with them")
    func config() async throws {
        let run = try await DaemonProcess.run(
            "tracker-daemon", config: "limits: { inFlightMax: 7 }", arguments: ["--check"])
        #expect(run.ending == .exited(0))
        #expect(run.output.contains("7 (set)"))
        let refused = try await DaemonProcess.run("tracker-daemon", arguments: ["--check"])
        #expect(refused.ending == .exited(65))
        #expect(refused.log.hasPrefix("tracker-daemon: "))
        #expect(refused.log.contains("stand in its code: take the section out"))
    }

    @Test("one whose reactors the configuration names says that it needs one")
    func missingConfig() async throws {
        let run = try await DaemonProcess.run(config: nil)
        #expect(run.ending == .exited(64))
        #expect(run.log.contains("--config <file>"))
    }

    @Test("its help names its options and its exit codes, its version is its own")
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

    @Test("clients are told what they talk to")
    func name() async throws {
        let daemon = try await DaemonProcess.start("tracker-daemon", config: nil)
        let run = try await ClientProgram(daemon: daemon)("ping")
        #expect(run.output.contains(#""daemon":"tracker-daemon 1.0""#))
        #expect(await daemon.stop() == .exited(0))
        #expect(daemon.log.contains("tracker-daemon"))
    }
}
