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

    @Test("X116: an entry for journald has a field for the message, the priority and each detail")
    func entry() {
        let entry = LogLine.journalEntry(
            event(.warning, "a\nb\u{1b}", error: WireError(.truncated, at: 3)),
            [
                "uid": "1000", "byUID": "7", "_PID": "1", "message": "c", "9x": "d",
                "code": "\(String(repeating: "e", count: LogLine.entryFieldBytesMax + 5))",
            ], program: "reactord")
        let lines = String(decoding: entry, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines[0] == "MESSAGE=a\\u{a}b\\u{1b}")
        #expect(lines[1] == "PRIORITY=4" && lines[2] == "SYSLOG_IDENTIFIER=reactord")
        #expect(lines[3].hasPrefix("ERROR="))
        #expect(
            Set(lines[4...].map { $0.split(separator: "=")[0] }) == [
                "UID", "BY_UID", "FIELD__PID", "FIELD_MESSAGE", "FIELD_9X", "CODE",
            ])
        #expect(lines.contains("UID=1000") && lines.contains("BY_UID=7"))
        let code = lines.first { $0.hasPrefix("CODE=") }
        #expect(code?.utf8.count == "CODE=".utf8.count + LogLine.entryFieldBytesMax)
        let long = LogLine.journalEntry(
            event(.info, String(repeating: "é", count: LogLine.entryMessageBytesMax)), [:],
            program: "p")
        #expect(long.count < LogLine.entryMessageBytesMax + 64)
    }

    @Test(
        "a daemon whose standard error is journald's sends entries to journald's socket",
        .enabled(if: DiskReserveTests.mayMount))
    func journald() async throws {
        let directory = TestDirectory()
        let listener = try JournalListener(in: directory)
        let config = try directory.write(
            "log: { format: journal }\n" + DaemonProcess.example, to: "r.yaml")
        let script = """
            mount -t tmpfs none /run && mkdir -p /run/systemd/journal || exit 99
            mount --bind "$1" /run/systemd/journal || exit 99
            export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2)
            exec "$2" --config "$3" --socket "$4"
            """
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "unshare", "-m", "sh", "-c", script, "sh", directory.path("journal"),
                Built.product("reactord"), config, directory.path("s"),
            ], in: directory, name: "daemon")
        #expect(listener.receive().contains("MESSAGE=all state is in memory"))
        let ready = listener.receive()
        #expect(ready.contains("MESSAGE=ready\nPRIORITY=5\nSYSLOG_IDENTIFIER=reactord\n"))
        #expect(ready.contains("\nSOCKET=") && !process.errors.contains("ready"))
        process.signal(SIGTERM)
        #expect(await process.ended() == .exited(0), "\(process.errors)")
        #expect(listener.receive().contains("MESSAGE=draining\n"))
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

/// A datagram socket in the place of journald's.
private final class JournalListener {
    private let descriptor: Int32

    init(in directory: TestDirectory) throws {
        try FileManager.default.createDirectory(
            atPath: directory.path("journal"), withIntermediateDirectories: true)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: directory.path("journal/socket").utf8)
        }
        let status = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        // A missing datagram fails the test instead of blocking it.
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Waits for the next entry.
    func receive() -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var count = 0
        // A signal of another test interrupts a call that has a limit.
        repeat {
            count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        } while count < 0 && errno == EINTR
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
