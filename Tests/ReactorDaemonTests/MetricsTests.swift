import Foundation
import ReactorThreads
import TestPrograms
import Testing

@testable import ReactorDaemon

/// A daemon's metrics: by `reactorctl`, at the socket and in the file.
///
/// Drives ``MetricsEndpoint``, ``MetricsReport`` and ``OperatorService``.
@Suite("Metrics of a real daemon", .timeLimit(.minutes(10)))
struct MetricsTests {
    private static func start(in directory: TestDirectory) async throws -> DaemonProcess {
        try await DaemonProcess.start(
            config: DaemonProcess.example + """

                data:
                  directory: \(directory.path("data"))
                metrics:
                  socket: \(directory.path("m"))
                  textfile: \(directory.path("reactord.prom"))
                  every: 1s
                """, in: directory)
    }

    /// Sends a request, and returns the response up to its end.
    private static func request(_ text: String, at path: String) throws -> String {
        let socket = try #require(RawSocket(path))
        #expect(socket.send(Array(text.utf8)))
        return String(decoding: socket.rest(), as: UTF8.self)
    }

    /// The value of a sample.
    private static func value(_ sample: String, in text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
            .flatMap { Double($0.dropFirst(sample.count + 1)) }
    }

    @Test("reactorctl, the socket and the file show the same families, and count actions")
    func places() async throws {
        let directory = TestDirectory()
        let daemon = try await Self.start(in: directory)
        let reactorctl = Reactorctl(daemon: daemon)
        for _ in 1...3 {
            _ = try await reactorctl("dispatch", "/visits", #"{"increment":{"by":1}}"#)
        }
        _ = try await reactorctl("dispatch", "/team/lock", #"{"release":{"token":7}}"#)
        let run = try await reactorctl("metrics")
        #expect(run.code == 0)
        #expect(Self.value("reactord_actions_total{outcome=\"applied\"}", in: run.output) == 3)
        #expect(Self.value("reactord_actions_total{outcome=\"rejected\"}", in: run.output) == 1)
        #expect(Self.value("reactord_action_seconds_count", in: run.output) == 4)
        #expect(Self.value("reactord_sequence", in: run.output) == 3)
        #expect(Self.value("reactord_read_only", in: run.output) == 0)
        #expect(Self.value("reactord_connections{uid=\"\(geteuid())\"}", in: run.output) == 1)
        #expect(
            try #require(Self.value("reactord_journal_commit_seconds_count", in: run.output)) > 0)
        #expect(try #require(Self.value("reactord_disk_free_bytes", in: run.output)) > 0)
        #expect(try #require(Self.value("process_resident_memory_bytes", in: run.output)) > 0)

        let response = try Self.request(
            "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", at: directory.path("m"))
        let parts = response.components(separatedBy: "\r\n\r\n")
        #expect(parts.count == 2 && parts[0].hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(parts[0].contains("Content-Type: text/plain; version=0.0.4"))
        #expect(parts[0].contains("Content-Length: \(parts[1].utf8.count)\r\n"))
        let file = directory.path("reactord.prom")
        #expect(await holds { FileManager.default.fileExists(atPath: file) })
        let texts = [run.output, parts[1], try String(contentsOfFile: file, encoding: .utf8)]
        let families = texts.map { text in
            text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
        }
        #expect(families[0].count > 30 && Set(families[0]).count == families[0].count)
        #expect(families.allSatisfy { $0 == families[0] })
        #expect(await daemon.stop() == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: directory.path("m")))
    }

    @Test("the age of the last backup is that of the directory, also after a restart")
    func backupAge() async throws {
        let directory = TestDirectory()
        let name = "reactord_backup_age_seconds"
        var daemon = try await Self.start(in: directory)
        let before = try await Reactorctl(daemon: daemon)("metrics").output
        #expect(Self.value(name, in: before) == nil)
        let backup = try await Reactorctl(daemon: daemon)("backup", directory.path("backup"))
        #expect(backup.code == 0, "\(backup)")
        // A file's time tells how long ago that was.
        let hour = Date(timeIntervalSinceNow: -3_600)
        for _ in 1...2 {
            let text = try await Reactorctl(daemon: daemon)("metrics").output
            #expect(try #require(Self.value(name, in: text)) >= 0)
            try FileManager.default.setAttributes(
                [.modificationDate: hour], ofItemAtPath: directory.path("data/last-backup"))
            let later = try await Reactorctl(daemon: daemon)("metrics").output
            #expect(try #require(Self.value(name, in: later)) >= 3_599)
            #expect(await daemon.stop() == .exited(0))
            daemon = try await Self.start(in: directory)
        }
        // A copy is another directory.
        #expect(!FileManager.default.fileExists(atPath: directory.path("backup/last-backup")))
    }

    @Test("the page of metrics lists exactly the families that a daemon shows, with their labels")
    func page() async throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/ReactorDaemon/ReactorDaemon.docc/Metrics.md")
        let listed = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| `") }.map { line in
                line.split(separator: "|", omittingEmptySubsequences: false)
                    .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
            }
        let directory = TestDirectory()
        let daemon = try await Self.start(in: directory)
        let reactorctl = Reactorctl(daemon: daemon)
        _ = try await reactorctl("dispatch", "/visits", #"{"increment":{"by":1}}"#)
        #expect(try await reactorctl("snapshot").code == 0)
        #expect(try await reactorctl("backup", directory.path("copy")).code == 0)
        let text = try await reactorctl("metrics").output
        let lines = text.split(separator: "\n")
        let families = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ") }
        let kinds = Dictionary(
            uniqueKeysWithValues: families.map { (String($0[2]), String($0[3])) })
        // Without a maximum of the disk, nor a fault of a client.
        let absent: Set = [
            "reactord_disk_bytes_max", "reactord_memory_max_bytes",
            "reactord_memory_reserved_bytes",
        ]
        // The daemon is in no cluster.
        let alone = listed.map { $0[1] }.filter { !$0.hasPrefix("reactord_cluster_") }
        #expect(alone.count < listed.count)
        #expect(Set(alone).subtracting(kinds.keys).isSubset(of: absent))
        #expect(Set(kinds.keys).subtracting(alone).isEmpty)
        for row in listed {
            #expect(kinds[row[1]] ?? row[2] == row[2], "\(row[1])")
            guard row[2] != "histogram" else { continue }
            for line in lines where line.hasPrefix(row[1] + "{") {
                #expect(line.hasPrefix("\(row[1]){\(row[3])="), "\(line)")
            }
        }
        #expect(try #require(Self.value("reactord_state_bytes{reactor=\"/visits\"}", in: text)) > 0)
        #expect(try #require(Self.value("reactord_journal_rows_kept", in: text)) > 0)
        #expect(Self.value("reactord_clock_behind_seconds", in: text) == 0)
        #expect(Self.value("reactord_journal_trim_lag_bytes", in: text) != nil)
        #expect(Self.value("reactord_epoch_changes_total", in: text) == 0)
        #expect(Self.value("reactord_denied_total{verb=\"own\"}", in: text) == 0)
        #expect(try #require(Self.value("reactord_disk_bytes", in: text)) > 0)
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("the socket answers for life and readiness, and refuses everything else")
    func requests() async throws {
        let directory = TestDirectory()
        let daemon = try await Self.start(in: directory)
        let path = directory.path("m")
        let expected = [
            ("GET /livez HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", "ok\n"),
            ("GET /readyz HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", "ok\n"),
            ("HEAD /readyz HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", ""),
            ("GET /secret HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found", "served here"),
            ("PUT /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed", "refused\n"),
            ("nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request", "refused\n"),
        ]
        for (request, status, content) in expected {
            let response = try Self.request(request, at: path)
            #expect(response.hasPrefix(status + "\r\n"), "\(request)")
            let rest = response.components(separatedBy: "\r\n\r\n").last ?? ""
            #expect(content.isEmpty ? rest.isEmpty : rest.hasPrefix(content), "\(request)")
        }
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("connections that send nothing are few, and delay neither clients nor other requests")
    func silence() async throws {
        let directory = TestDirectory()
        let daemon = try await Self.start(in: directory)
        let silent = try (0..<MetricsEndpoint.visitorsMax).map { _ in
            try #require(RawSocket(directory.path("m")))
        }
        let surplus = try #require(RawSocket(directory.path("m")))
        #expect(surplus.rest().isEmpty)
        let client = try #require(RawSocket.welcomed(at: daemon.socketPath))
        #expect(client.isAnswered())
        // The deadline ends the silent connections.
        #expect(silent.allSatisfy { $0.rest().isEmpty })
        let response = try Self.request("GET /livez HTTP/1.1\r\n\r\n", at: directory.path("m"))
        #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("a metrics socket that cannot be bound is an error at the start, with its path")
    func unusable() async throws {
        let directory = TestDirectory()
        let run = try await DaemonProcess.run(
            config: DaemonProcess.example + "\nmetrics: { socket: /nowhere/m.sock }\n",
            in: directory)
        #expect(run.ending == .exited(69))
        #expect(run.log.contains("/nowhere"))
    }

    @Test("a file that cannot be written is logged, and the daemon serves")
    func unwritable() async throws {
        let directory = TestDirectory()
        let daemon = try await DaemonProcess.start(
            config: DaemonProcess.example
                + "\nmetrics: { textfile: /nowhere/reactord.prom, every: 1s }\n", in: directory)
        #expect(await holds { daemon.log.contains("the metrics' file cannot be written") })
        #expect(try await Reactorctl(daemon: daemon)("ping").code == 0)
        #expect(await daemon.stop() == .exited(0))
    }
}
