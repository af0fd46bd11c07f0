import Foundation
import ReactorWire
import TestPrograms
import Testing

/// Drives ``TopView`` and ``TerminalScreen``.
@Suite("reactorctl top", .timeLimit(.minutes(10)))
struct TopTests {
    @Test("without a terminal, it prints a line of JSON per interval, with paths and clients")
    func lines() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let top = try reactorctl.start(["top", "--interval", "200ms"], name: "top")
        #expect(await holds { top.output.contains("\n") })
        let actions = String(repeating: "{\"increment\":{}}\n", count: 200)
        var found: WireMap?
        for _ in 0..<500 where found == nil {
            _ = try await reactorctl("dispatch", "/visits", "-", input: actions)
            for line in top.output.split(separator: "\n") {
                guard case .map(let map) = try? WireValue(json: String(line)),
                    case .array(let paths) = map["paths"], !paths.isEmpty
                else { continue }
                found = map
            }
        }
        let report = try #require(found)
        guard case .array(let paths) = report["paths"], case .map(let path) = paths.first else {
            Issue.record("no path in \(report)")
            return
        }
        #expect(path["path"] == "/visits")
        for name in ["actionsPerSecond", "queueBytes", "residentBytes", "turnP99Nanoseconds"] {
            #expect(report[WireKey(name)] != nil, "\(name)")
        }
        top.signal(SIGTERM)
        _ = await top.ended()
    }

    @Test("alarms are shown first, and end by themselves")
    func alarms() async throws {
        let daemon = try await DaemonProcess.start()
        let reactorctl = Reactorctl(daemon: daemon)
        func alarms() async throws -> WireValue? {
            let run = try await reactorctl("top", "--interval", "100ms", "--count", "1")
            guard case .map(let map) = try WireValue(json: run.output) else { return nil }
            return map["alarms"]
        }
        #expect(try await alarms() == [])
        let file = try daemon.directory.write("limits: 5\n", to: "reactord.yaml")
        #expect(try await reactorctl("reload").code == 65)
        let line = "the configuration file has problems: the former one is in force"
        #expect(try await alarms() == [.text(line)])
        let program = Built.product("reactorctl")
        let top = try ChildProcess(
            "/usr/bin/script",
            [
                "-qec",
                "stty rows 24 columns 80; '\(program)' top --socket '\(daemon.socketPath)' "
                    + "--interval 100ms --count 1", "/dev/null",
            ], in: daemon.directory, name: "script")
        #expect(await top.ended() == .exited(0))
        #expect(top.output.contains("ALARM \(line)"), "\(top.output)")
        try Data(DaemonProcess.example.utf8).write(to: URL(filePath: file))
        #expect(try await reactorctl("reload").code == 0)
        #expect(try await alarms() == [])
    }

    @Test("it ends after the given number of reports, and refuses a useless interval")
    func count() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let run = try await reactorctl("top", "--interval", "100ms", "--count", "2")
        #expect(run.code == 0 && run.output.split(separator: "\n").count == 2)
        #expect(try await reactorctl("top", "--interval", "1ms").code == 2)
        #expect(try await reactorctl("top", "--count", "0").code == 2)
    }

    @Test("on a terminal, it draws within the screen, and restores the terminal at its end")
    func terminal() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        _ = try await reactorctl("dispatch", "/visits", #"{"increment":{}}"#)
        let program = Built.product("reactorctl")
        let command =
            "stty rows 14 columns 60; '\(program)' "
            + "top --socket '\(reactorctl.daemon.socketPath)' --interval 100ms --count 1"
        let top = try ChildProcess(
            "/usr/bin/script", ["-qec", command, "/dev/null"],
            in: reactorctl.daemon.directory, name: "script")
        #expect(await top.ended() == .exited(0))
        let (enter, leave) = ("\u{1b}[?1049h", "\u{1b}[?1049l")
        let parts = top.output.components(separatedBy: enter)
        #expect(parts.count == 2 && parts[1].hasSuffix(leave))
        let frames = parts[1].components(separatedBy: "\u{1b}[H").dropFirst()
        #expect(frames.count == 2 && frames.allSatisfy { $0.contains("ACTIONS/s  PATH") })
        for frame in frames {
            let lines = frame.components(separatedBy: "\r\n")
            #expect(lines.count <= 14, "\(lines)")
            #expect(lines.allSatisfy { $0.components(separatedBy: "\u{1b}")[0].count <= 60 })
        }
    }
}
