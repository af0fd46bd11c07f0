import TestPrograms
import Testing

/// How a real daemon ends, and what it says of a flood, with effects that misbehave.
@Suite("The end of a daemon", .timeLimit(.minutes(10)))
struct DaemonEndTests {
    private func stubborn() async throws -> (daemon: DaemonProcess, control: Reactorctl) {
        let daemon = try await DaemonProcess.start("stubborn-daemon", config: nil)
        return (daemon, Reactorctl(daemon: daemon))
    }

    /// Begins an effect, and returns once it runs.
    private func begin(
        _ kind: String, _ name: String, _ control: Reactorctl, begun: [String]
    ) async throws {
        let run = try await control("dispatch", "/", "{\"\(kind)\":\"\(name)\"}")
        #expect(run.code == 0, "\(run.errors)")
        let all = "[" + begun.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        let watch = try control.start(["watch", "/begun"], name: "watch-\(begun.count)")
        #expect(await watch.says(all))
    }

    @Test("R101: a daemon ends though effects do not, and names in its log those alone")
    func stubbornEffects() async throws {
        let (daemon, control) = try await stubborn()
        try await begin("obey", "tame", control, begun: ["tame"])
        try await begin("ignore", "deaf", control, begun: ["tame", "deaf"])
        try await begin("block", "stuck", control, begun: ["tame", "deaf", "stuck"])
        // because the suite's limit, and no clock of ours, is what an endless wait would meet
        #expect(await daemon.stop() == .exited(0))
        let told = daemon.log.split(separator: "\n").filter { $0.contains("abandoned") }
        #expect(told.count == 1)
        #expect(told.first?.contains("/ deaf, / stuck") == true, "\(daemon.log)")
        #expect(told.first?.contains("tame") == false)
        #expect(daemon.log.contains("stopped"))
    }

    @Test("R101: where every effect ends when it is cancelled, nothing is abandoned")
    func tameEffects() async throws {
        let (daemon, control) = try await stubborn()
        try await begin("obey", "a", control, begun: ["a"])
        try await begin("obey", "b", control, begun: ["a", "b"])
        #expect(await daemon.stop() == .exited(0))
        #expect(!daemon.log.contains("abandoned"))
    }

    @Test("R101: an effect that was cancelled before and still runs is abandoned, too")
    func orphan() async throws {
        let (daemon, control) = try await stubborn()
        try await begin("ignore", "twice", control, begun: ["twice"])
        // because a second effect of that name cancels the first, which does not hear of it
        try await begin("ignore", "twice", control, begun: ["twice", "twice"])
        #expect(await daemon.stop() == .exited(0))
        let told = daemon.log.split(separator: "\n").filter { $0.contains("abandoned") }
        #expect(told.count == 1 && told[0].contains("count=2"), "\(daemon.log)")
    }

    @Test("R100: effects that ask for more than a turn does are reported, and starve nobody")
    func flood() async throws {
        let (daemon, control) = try await stubborn()
        let run = try await control("dispatch", "/", #"{"flood":50000}"#)
        #expect(run.code == 0)
        #expect(try await control("ping").code == 0)
        #expect(
            await daemon.comes { daemon.log.contains("ask for more than a turn does") },
            "\(daemon.log)")
        let watch = try control.start(["watch", "/drops"], name: "drops")
        #expect(await watch.says("50000"))
        let reports = daemon.log.split(separator: "\n").filter { $0.contains("more than a turn") }
        #expect(reports.allSatisfy { $0.contains("perTurn=1024") })
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("P80: a service manager is told that the daemon is ready, and that it is about to end")
    func notices() async throws {
        let name = "reactor-manager-\(UInt64.random(in: .min ... .max))"
        let manager = try #require(NoticeListener(abstract: name))
        let daemon = try await DaemonProcess.start(environment: ["NOTIFY_SOCKET": "@" + name])
        #expect(manager.receive() == "READY=1")
        #expect(await daemon.stop() == .exited(0))
        #expect(manager.receive() == "STOPPING=1")
    }

    @Test("P80: a service manager that does not listen is in nobody's way")
    func deafManager() async throws {
        let daemon = try await DaemonProcess.start(environment: ["NOTIFY_SOCKET": "/nobody/here"])
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
    }
}
