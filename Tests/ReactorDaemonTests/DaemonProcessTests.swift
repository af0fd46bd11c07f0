import Foundation
import TestPrograms
import Testing

/// Tests of the harness: a test that uses it must not pass for the wrong reason.
@Suite("A daemon as a process", .timeLimit(.minutes(10)))
struct DaemonProcessTests {
    @Test("after start it accepts connections, and stop ends it with 0")
    func startAndStop() async throws {
        let daemon = try await DaemonProcess.start()
        #expect(DaemonProcess.accepts(daemon.socketPath))
        #expect(await daemon.stop() == .exited(0))
        #expect(!DaemonProcess.accepts(daemon.socketPath))
        #expect(!FileManager.default.fileExists(atPath: daemon.socketPath))
        #expect(daemon.log.contains("ready"))
        #expect(daemon.log.contains("stopped"))
    }

    @Test("a killed daemon leaves its socket, and the next daemon replaces it")
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

    @Test("a failed start throws an error with the reason")
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
