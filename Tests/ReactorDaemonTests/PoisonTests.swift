import Foundation
import ReactorClient
import ReactorCore
import TestPrograms
import Testing

/// An action of this test.
@WireCodable
private enum Order {
    case trap
    case flood(Int)
}

/// A real daemon, and an action that ends it each time.
@Suite("Poison", .timeLimit(.minutes(10)))
struct PoisonTests {
    @Test(
        "R104, P81, R98: an action that ended the daemon twice is refused, all others are applied")
    func poisoned() async throws {
        let directory = TestDirectory()
        let config = "data:\n  directory: \(directory.path("data"))\n"
        let program = "stubborn-daemon"
        let first = try await DaemonProcess.start(program, config: config, in: directory)
        var options = ClientOptions(program: "poisoner")
        options.keepsTrying = true
        options.pauseMin = 1_000_000
        options.pauseMax = 20_000_000
        let client = try await Client.connect(to: first.socketPath, options: options)
        async let outcome = client.dispatch("/", Order.trap)
        let end = await first.ended()
        #expect(Self.isTrap(end), "\(end)")
        // The client resends the action as soon as a daemon serves.
        let second = try await DaemonProcess.run(program, config: config, in: directory)
        #expect(Self.isTrap(second.ending), "\(second.ending)")
        let third = try await DaemonProcess.start(program, config: config, in: directory)
        // A trap ends a process before it has written its whole log.
        #expect(
            await holds { third.log.contains("ended while it ran an action") }, "\(third.log)")
        guard case .rejected(let rejection) = try await outcome else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.code == "POISONED", "\(rejection)")
        #expect(try await client.dispatch("/", Order.flood(1)).revision != nil)
        client.close()
        let log = try await Reactorctl(daemon: third)("log", "/")
        #expect(log.output.contains("trap") && log.output.contains("POISONED"), "\(log.output)")
        #expect(await third.stop() == .exited(0))
    }

    /// Whether the process ended with a Swift trap.
    private static func isTrap(_ ending: ChildProcess.Ending) -> Bool {
        // A sanitizer turns the trap into another signal or status.
        let names = ["TSAN_OPTIONS", "ASAN_OPTIONS"]
        let isSanitized = names.contains { ProcessInfo.processInfo.environment[$0] != nil }
        guard !isSanitized else { return ending != .exited(0) }
        return [.killed(signal: SIGTRAP), .killed(signal: SIGILL)].contains(ending)
    }
}
