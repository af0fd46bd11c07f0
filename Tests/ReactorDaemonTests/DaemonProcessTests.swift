import Foundation
import TestPrograms
import Testing

/// The harness itself: a test that leans on it must not pass for the wrong reason.
@Suite("A daemon as a process", .timeLimit(.minutes(10)))
struct DaemonProcessTests {
    @Test("it accepts once it is started, and ends with 0 when asked to")
    func startAndStop() async throws {
        let daemon = try await DaemonProcess.start()
        #expect(DaemonProcess.accepts(daemon.socketPath))
        #expect(await daemon.stop() == .exited(0))
        #expect(!DaemonProcess.accepts(daemon.socketPath))
        #expect(!FileManager.default.fileExists(atPath: daemon.socketPath))
        #expect(daemon.log.contains("ready"))
        #expect(daemon.log.contains("stopped"))
    }

    @Test("one that was killed leaves its socket, and the next takes its place")
    func kill() async throws {
        let first = try await DaemonProcess.start()
        await first.kill9()
        #expect(await first.ended() == .killed(signal: SIGKILL))
        #expect(FileManager.default.fileExists(atPath: first.socketPath))
        #expect(!DaemonProcess.accepts(first.socketPath))
        let second = try await DaemonProcess.start(in: first.directory)
        #expect(second.pid != first.pid)
        #expect(await second.stop() == .exited(0))
    }

    @Test("one that cannot start is a failure that says why")
    func failure() async throws {
        do {
            _ = try await DaemonProcess.start(config: "reactors:\n  visits:\n    kind: conter\n")
            Issue.record("it started")
        } catch let failure as DaemonProcess.Failure {
            #expect(failure.description.contains("exited(65)"))
            #expect(failure.log.contains("counter"))
        }
        let run = try await DaemonProcess.run(arguments: ["--check"])
        #expect(run.ending == .exited(0))
        #expect(run.output.contains("visits"))
    }
}
