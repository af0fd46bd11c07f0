import Foundation
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
}
