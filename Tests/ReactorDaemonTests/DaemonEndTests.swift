import TestPrograms
import Testing

/// The end of a real daemon, and its log, with misbehaving effects.
@Suite("The end of a daemon", .timeLimit(.minutes(10)))
struct DaemonEndTests {
    private func stubborn() async throws -> (daemon: DaemonProcess, control: Reactorctl) {
        let daemon = try await DaemonProcess.start("stubborn-daemon", config: nil)
        return (daemon, Reactorctl(daemon: daemon))
    }

    /// Starts an effect, and returns once it runs.
    private func begin(
        _ kind: String, _ name: String, _ control: Reactorctl, begun: [String]
    ) async throws {
        let run = try await control("dispatch", "/", "{\"\(kind)\":\"\(name)\"}")
        #expect(run.code == 0, "\(run.errors)")
        let all = "[" + begun.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        let watch = try control.start(["watch", "/begun"], name: "watch-\(begun.count)")
        #expect(await watch.says(all))
    }

    @Test("R101: a daemon ends despite effects that do not end, and names only those in its log")
    func stubbornEffects() async throws {
        let (daemon, control) = try await stubborn()
        try await begin("obey", "tame", control, begun: ["tame"])
        try await begin("ignore", "deaf", control, begun: ["tame", "deaf"])
        try await begin("block", "stuck", control, begun: ["tame", "deaf", "stuck"])
        // Without a clock of its own: the suite's time limit ends an endless wait.
        #expect(await daemon.stop() == .exited(0))
        let lines = daemon.log.split(separator: "\n").filter { $0.contains("abandoned") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("/ deaf, / stuck") == true, "\(daemon.log)")
        #expect(lines.first?.contains("tame") == false)
        #expect(daemon.log.contains("stopped"))
    }

    @Test("R101: if every effect ends on cancellation, none is reported as abandoned")
    func tameEffects() async throws {
        let (daemon, control) = try await stubborn()
        try await begin("obey", "a", control, begun: ["a"])
        try await begin("obey", "b", control, begun: ["a", "b"])
        #expect(await daemon.stop() == .exited(0))
        #expect(!daemon.log.contains("abandoned"))
    }

    @Test("R101: an effect that was cancelled earlier and still runs is reported as abandoned too")
    func orphan() async throws {
        let (daemon, control) = try await stubborn()
        try await begin("ignore", "twice", control, begun: ["twice"])
        // A second effect of that name cancels the first, which ignores it.
        try await begin("ignore", "twice", control, begun: ["twice", "twice"])
        #expect(await daemon.stop() == .exited(0))
        let lines = daemon.log.split(separator: "\n").filter { $0.contains("abandoned") }
        #expect(lines.count == 1 && lines[0].contains("count=2"), "\(daemon.log)")
    }

    @Test("R100: effects that post more than a turn runs are reported, and do not starve clients")
    func flood() async throws {
        let (daemon, control) = try await stubborn()
        let run = try await control("dispatch", "/", #"{"flood":50000}"#)
        #expect(run.code == 0)
        #expect(try await control("ping").code == 0)
        #expect(
            await holds { daemon.log.contains("post more jobs than a turn runs") },
            "\(daemon.log)")
        let watch = try control.start(["watch", "/drops"], name: "drops")
        #expect(await watch.says("50000"))
        let reports = daemon.log.split(separator: "\n").filter {
            $0.contains("more jobs than a turn")
        }
        #expect(reports.allSatisfy { $0.contains("perTurn=1024") })
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("P80: a service manager receives READY and STOPPING")
    func notices() async throws {
        let name = "reactor-manager-\(UInt64.random(in: .min ... .max))"
        let manager = try #require(NoticeListener(abstract: name))
        let daemon = try await DaemonProcess.start(environment: ["NOTIFY_SOCKET": "@" + name])
        #expect(manager.receive() == "READY=1")
        #expect(await daemon.stop() == .exited(0))
        #expect(manager.receive() == "STOPPING=1")
    }

    @Test("P80: the watchdog of a service manager receives reports while the loop turns")
    func watchdog() async throws {
        let name = "reactor-manager-\(UInt64.random(in: .min ... .max))"
        let manager = try #require(NoticeListener(abstract: name))
        let daemon = try await DaemonProcess.start(
            environment: ["NOTIFY_SOCKET": "@" + name, "WATCHDOG_USEC": "60000"])
        #expect(manager.receive() == "READY=1")
        for _ in 0..<3 { #expect(manager.receive() == "WATCHDOG=1") }
        await daemon.kill9()
    }

    @Test("P80: a service manager that does not listen has no effect")
    func deafManager() async throws {
        let daemon = try await DaemonProcess.start(environment: ["NOTIFY_SOCKET": "/nobody/here"])
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
    }
}
