import Glibc
import ReactorServer
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon

/// Drives ``LoopPosition`` and ``MissedBeats``.
@Suite("LoopWatchdog", .timeLimit(.minutes(10)))
struct LoopWatchdogTests {
    @Test("two checks without a beat are reported, a third one ends, and a beat starts over")
    func missed() {
        var missed = MissedBeats()
        let verdicts = [1, 1, 2, 2, 2, 3, 3, 3, 3, 3].map { missed.check($0) }
        #expect(
            verdicts == [
                .nothing, .nothing, .nothing, .nothing, .report, .nothing, .nothing, .report, .end,
                .nothing,
            ])
    }

    @Test("a loop that never beat is counted from the first check on")
    func neverBegun() {
        var missed = MissedBeats()
        #expect((0..<3).map { _ in missed.check(0) } == [.nothing, .report, .end])
    }

    @Test("the position names the client whose input is handled")
    func position() {
        let position = LoopPosition()
        let peer = Peer(uid: 1, gid: 2, pid: 3)
        position.beat()
        position.enter(ConnectionID(7), peer)
        #expect(position.now.beats == 1)
        #expect(position.now.client == .init(connection: ConnectionID(7), peer: peer))
        position.leave()
        #expect(position.now.client == nil)
    }

    @Test("the shorter of two timeouts counts, and none makes no watchdog")
    func timeouts() {
        #expect(LoopWatchdog(timeout: .zero, nil) == nil)
        #expect(LoopWatchdog(timeout: .seconds(6), nil)?.interval == .seconds(2))
    }

    @Test("the configuration takes 0s, or a duration from 1s to 1h")
    func config() throws {
        let text = "loop: { watchdog: 30s }\nsocket: /run/s\n" + oneReactor
        let config = try DaemonConfig(yaml: text, file: "r.yaml")
        #expect(config.watchdog == .seconds(30) && config.spin == .microseconds(50))
        let summary = try config.summary(environment: [:], uid: 1)
        #expect(summary.contains("ends the daemon if stuck for 30s"))
        #expect(
            try DaemonConfig(yaml: "loop: { watchdog: 0s }\n" + oneReactor, file: "r.yaml").watchdog
                == .zero)
        let lines = refusals("loop: { watchdog: 10ms }\n" + oneReactor)
        #expect(lines.count == 1 && lines[0].contains("0s, or a duration from 1s to 1h"))
    }

    @Test("P78: a daemon whose action never returns ends; its log names the client and the action")
    func hang() async throws {
        let directory = TestDirectory()
        let config = """
            loop: { watchdog: 5s }
            data:
              directory: \(directory.path("data"))
            """
        let first = try await DaemonProcess.start("stubborn-daemon", config: config, in: directory)
        let raw = try #require(RawSocket.welcomed(at: first.socketPath))
        raw.send(.open, id: 0, number: 1, Open(path: "/").wireBytes())
        #expect(raw.frame()?.kind == .opened)
        raw.send(.dispatch, id: 0, number: 41, (["hang": [:]] as WireValue).wireBytes())
        let ending = await first.ended()
        #expect(ending != .exited(0), "\(ending)")
        #expect(first.log.contains("the loop is stuck in the input of a client"), "\(first.log)")
        #expect(first.log.contains("pid=\(getpid())") && first.log.contains("ordinal=41"))
        let second = try await DaemonProcess.start("stubborn-daemon", config: config, in: directory)
        #expect(
            await holds { second.log.contains("ordinal=41 times=1") }, "\(second.log)")
    }
}
