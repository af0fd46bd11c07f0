import Foundation
import Logging
import ReactorDaemon
import ReactorWire
import TestPrograms
import Testing

@Suite("LogLine")
struct LogLineTests {
    private func event(
        _ level: Logger.Level, _ message: String, error: (any Error)? = nil
    ) -> LogEvent {
        LogEvent(
            level: level, message: "\(message)", error: error, metadata: nil, source: nil,
            file: "f", function: "f", line: 1)
    }

    @Test("as JSON, an event is one object on one line, whatever its text contains")
    func json() throws {
        let line = LogLine.json(
            event(.warning, "a \"b\"\n\u{1b}[2J", error: WireError(.truncated, at: 3)),
            ["uid": "1000", "code": "BUSY"], program: "reactord", at: 1_000)
        #expect(line.hasSuffix("}\n") && line.filter { $0 == "\n" }.count == 1)
        let value = try WireValue(json: String(line.dropLast()))
        guard case .map(let map) = value else {
            Issue.record("\(line) is no object")
            return
        }
        #expect(map["time"] == "1970-01-01T00:00:01.000Z")
        #expect(map["level"] == "warning" && map["program"] == "reactord")
        #expect(map["message"] == "a \"b\"\n\u{1b}[2J")
        #expect(map["metadata"] == ["code": "BUSY", "uid": "1000"])
        #expect(map["error"] != nil)
        #expect(!LogLine.json(event(.info, "x"), [:], program: "p", at: 0).contains("metadata"))
    }

    @Test("X116: for journald, an event is one line with the priority of its level")
    func journal() {
        #expect(
            LogLine.journal(event(.notice, "ready"), ["pid": "7", "socket": "/run/s"])
                == "<5>ready pid=7 socket=/run/s\n")
        let line = LogLine.journal(event(.critical, "a\nb\u{1b}"), ["k": "c\nd"])
        #expect(line.hasPrefix("<2>a"))
        #expect(line.filter { $0 == "\n" }.count == 1 && !line.contains("\u{1b}"))
        let levels = Logger.Level.allCases.map { level in
            LogLine.journal(event(level, "x"), [:]).prefix(3)
        }
        #expect(levels == ["<7>", "<7>", "<6>", "<5>", "<4>", "<3>", "<2>"])
    }

    @Test("a daemon writes its log, and the error that ends it, in the configured form")
    func daemon() async throws {
        let directory = TestDirectory()
        let daemon = try await DaemonProcess.start(
            config: "log: { format: json }\n" + DaemonProcess.example, in: directory)
        #expect(await daemon.stop() == .exited(0))
        let lines = daemon.log.split(separator: "\n").map(String.init)
        let messages = try lines.map { line -> WireValue? in
            guard case .map(let map) = try WireValue(json: line) else { return nil }
            return map["message"]
        }
        #expect(messages.contains("ready") && messages.contains("stopped"))
        let failed = try await DaemonProcess.run(
            config: "log: { format: journal }\nmetrics: { socket: /nowhere/m }\n"
                + DaemonProcess.example, in: directory)
        #expect(failed.ending == .exited(69))
        #expect(failed.log.hasPrefix("<2>") && failed.log.contains("/nowhere"))
    }

    @Test("an unknown form is refused with the known ones, beside other mistakes of the section")
    func config() throws {
        let config = try DaemonConfig(
            yaml: "log: { level: debug, format: journal }\nreactors: { a: { kind: counter } }",
            file: "r.yaml")
        #expect(config.logFormat == .journal && config.logLevel == .debug)
        let lines = refusals("log: { level: 3, format: xml, fromat: json }\n" + oneReactor)
        #expect(lines.count == 3)
        #expect(lines[1].contains("one of text, json, journal"))
        #expect(lines[2].contains("did you mean format?"))
    }
}
