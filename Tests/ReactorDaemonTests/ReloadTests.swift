import Foundation
import ReactorWire
import TestPrograms
import Testing

/// A real daemon that reads its configuration again.
///
/// Drives ``ConfigReloader``, ``ConfigSource`` and ``RequestQueue``.
@Suite("Reloading the configuration", .timeLimit(.minutes(10)))
struct ReloadTests {
    private let directory = TestDirectory()

    private func start(
        _ settings: String = "", environment: [String: String] = [:]
    ) async throws -> (daemon: DaemonProcess, control: Reactorctl) {
        let daemon = try await DaemonProcess.start(
            config: settings + DaemonProcess.example, environment: environment, in: directory)
        return (daemon, Reactorctl(daemon: daemon))
    }

    private func write(_ text: String) throws {
        _ = try directory.write(text, to: "reactord.yaml")
    }

    private func limit(_ name: String, _ control: Reactorctl) async throws -> WireValue? {
        let run = try await control("describe", "--limits")
        guard case .map(let map)? = try? WireValue(json: run.output) else { return nil }
        return map[WireKey(name)]
    }

    @Test("new values apply at once, and the answer names those that need a restart")
    func apply() async throws {
        let (daemon, control) = try await start()
        let watcher = try #require(RawSocket.welcomed(at: daemon.socketPath))
        try write("log: { level: debug }\nlimits: { inFlightMax: 77 }\n" + DaemonProcess.example)
        let run = try await control("reload")
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.output
                == #"{"applied":["log.level","limits.inFlightMax"],"needsRestart":[]}"# + "\n")
        #expect(try await limit("inFlightMax", control) == 77)
        try write("socket: /run/elsewhere\nlimits: { inFlightMax: 78 }\n" + DaemonProcess.example)
        // `--socket` on the command line is in force, whatever the file says.
        let again = try await control("reload")
        #expect(again.code == 0 && again.output.contains("log.level"))
        try write("loop: { watchdog: 9s }\nlimits: { inFlightMax: 79 }\n" + DaemonProcess.example)
        let partly = try await control("reload")
        #expect(partly.code == 75)
        #expect(
            partly.output
                == #"{"applied":["limits.inFlightMax"],"needsRestart":["loop.watchdog"]}"# + "\n")
        #expect(partly.errors.contains("a restart of the daemon is needed for loop.watchdog"))
        #expect(watcher.isAnswered())
        #expect(await holds { daemon.log.contains("applied the configuration") })
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("describe --limits shows the configured effectsMax")
    func effects() async throws {
        let (_, control) = try await start("limits: { effectsMax: 3 }\n")
        #expect(try await limit("effectsMax", control) == .integer(3))
    }

    @Test("a dry run says the same, and changes nothing")
    func dryRun() async throws {
        let (daemon, control) = try await start()
        try write("limits: { inFlightMax: 77 }\n" + DaemonProcess.example)
        let run = try await control("reload", "--dry-run")
        #expect(run.code == 0 && run.output.contains("limits.inFlightMax"))
        #expect(try await limit("inFlightMax", control) == 1_024)
        #expect(!daemon.log.contains("applied the configuration"))
        try write("reactors: { visits: { kind: conter } }\n")
        let broken = try await control("reload", "--dry-run")
        #expect(broken.code == 65 && broken.errors.contains("counter"))
        let metrics = try await control("metrics").output
        #expect(metrics.contains("reactord_config_reload_success 1\n"))
    }

    @Test(
        "P75: a file with problems changes nothing, and the answer has each problem with its line",
        arguments: [
            "limits: { inFlightMax: 9, queueBytesMax: 1 }\n" + DaemonProcess.example,
            "limits: { inFlightMax: 9 }\nreactors:\n  visits:\n    kind: conter\n",
            "limits: { inFlightMax: 9 }\naccess:\n  rules:\n"
                + "    - {path: /visits/count, to: anyone, may: use}\n" + DaemonProcess.example,
            "limits: { inFlightMax: 9 }\n", "limits: { inFlightMax: [\n", "\u{0}", "",
        ])
    func broken(text: String) async throws {
        let (daemon, control) = try await start("limits: { inFlightMax: 50 }\n")
        try write(text)
        let run = try await control("reload")
        #expect(run.code == 65 && run.output.isEmpty)
        #expect(run.errors.contains("reactord.yaml"))
        #expect(try await limit("inFlightMax", control) == 50)
        #expect(await holds { daemon.log.contains("kept the former configuration") })
        let metrics = try await control("metrics").output
        #expect(metrics.contains("reactord_config_reload_success 0\n"))
        try write("limits: { inFlightMax: 60 }\n" + DaemonProcess.example)
        #expect(try await control("reload").code == 0)
        #expect(
            try await control("metrics").output.contains("reactord_config_reload_success 1\n"))
    }

    @Test(
        "P75: the daemon ignores an unreadable file, and applies a truncated file whole or not at all"
    )
    func unreadable() async throws {
        let (daemon, control) = try await start("limits: { inFlightMax: 50 }\n")
        let path = directory.path("reactord.yaml")
        try FileManager.default.removeItem(atPath: path)
        let missing = try await control("reload")
        #expect(missing.code == 65 && missing.errors.contains("no such file"))
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let folder = try await control("reload")
        #expect(folder.code == 65 && folder.errors.contains("is a directory"))
        try FileManager.default.removeItem(atPath: path)
        let whole = "limits: { queueBytesMax: 2MiB, inFlightMax: 60 }\n" + DaemonProcess.example
        for count in stride(from: 0, to: whole.utf8.count, by: 9) {
            try write(String(decoding: whole.utf8.prefix(count), as: UTF8.self))
            let run = try await control("reload")
            let isApplied = run.code == 0 || run.code == 75
            #expect(isApplied || run.code == 65, "cut after \(count) bytes: \(run.errors)")
            // Both limits, or none.
            let values = [
                try await limit("queueBytesMax", control),
                try await limit("inFlightMax", control),
            ]
            #expect(
                values == [1_048_576, 50] || values == [2_097_152, 60],
                "cut after \(count) bytes")
        }
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("at SIGHUP the daemon reads the file again, and notifies the service manager")
    func hangUp() async throws {
        let name = "reactor-manager-\(UInt64.random(in: .min ... .max))"
        let manager = try #require(NoticeListener(abstract: name))
        let (daemon, control) = try await start(environment: ["NOTIFY_SOCKET": "@" + name])
        #expect(manager.receive() == "READY=1")
        try write("limits: { inFlightMax: 77 }\n" + DaemonProcess.example)
        daemon.signal(SIGHUP)
        let begun = manager.receive().split(separator: "\n")
        #expect(begun.first == "RELOADING=1")
        let microseconds = begun.last.flatMap { UInt64($0.dropFirst("MONOTONIC_USEC=".count)) }
        #expect(try #require(microseconds) > 0)
        #expect(manager.receive() == "READY=1\nSTATUS=applied 1 new values")
        #expect(try await limit("inFlightMax", control) == 77)
        #expect(await holds { daemon.log.contains("SIGHUP") })
        try write("limits: 5\n")
        daemon.signal(SIGHUP)
        #expect(manager.receive().hasPrefix("RELOADING=1"))
        #expect(manager.receive().hasPrefix("READY=1\nSTATUS=kept the former configuration: "))
        #expect(await daemon.stop() == .exited(0))
        #expect(manager.receive() == "STOPPING=1")
    }

    @Test(
        "P76: a storm of signals and requests is read few times, and each request gets its answer")
    func storm() async throws {
        let (daemon, control) = try await start()
        let client = try #require(RawSocket.welcomed(at: daemon.socketPath))
        for count in 1...1_000 {
            if count.isMultiple(of: 100) {
                try write("limits: { inFlightMax: \(count) }\n" + DaemonProcess.example)
            }
            daemon.signal(SIGHUP)
        }
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 1...8 { group.addTask { try await control("reload").code } }
            for try await code in group { #expect(code == 0) }
        }
        #expect(client.isAnswered())
        #expect(try await limit("inFlightMax", control) == 1_000)
        #expect(await holds { daemon.log.contains("applied the conf") })
        let lines = daemon.log.split(separator: "\n").filter { $0.contains("applied the conf") }
        #expect(!lines.isEmpty && lines.count < 504, "\(lines.count) readings")
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
    }

    @Test("SIGHUP during a drain changes nothing, and does not cut the drain short")
    func drain() async throws {
        let daemon = try await DaemonProcess.start("stubborn-daemon", config: nil)
        let control = Reactorctl(daemon: daemon)
        #expect(try await control("dispatch", "/", #"{"ignore":"deaf"}"#).code == 0)
        daemon.signal(SIGTERM)
        for _ in 1...20 { daemon.signal(SIGHUP) }
        #expect(await daemon.ended() == .exited(0))
        #expect(!daemon.log.contains("second signal") && daemon.log.contains("stopped"))
    }

    @Test("a daemon without a file refuses to read one, and goes on")
    func noFile() async throws {
        let daemon = try await DaemonProcess.start("stubborn-daemon", config: nil)
        let control = Reactorctl(daemon: daemon)
        let run = try await control("reload")
        #expect(run.code == 66 && run.errors.contains("without a configuration file"))
        daemon.signal(SIGHUP)
        #expect(await holds { daemon.log.contains("SIGHUP: the daemon was started without") })
        #expect(try await control("ping").code == 0)
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("a lower limit of connections keeps those that are open, and refuses further ones")
    func lower() async throws {
        let (daemon, control) = try await start()
        let open = (1...4).compactMap { _ in RawSocket.welcomed(at: daemon.socketPath) }
        #expect(open.count == 4)
        try write(
            "limits: { connectionsMax: 2, ownerConnectionsReserved: 0 }\n" + DaemonProcess.example)
        #expect(try await control("reload").code == 0)
        let refused = try await control("health", "--ready", "--timeout", "300s")
        #expect(refused.code == 75 && refused.errors.contains("connectionsMax 2"))
        for client in open { #expect(client.isAnswered()) }
        try write(DaemonProcess.example)
        daemon.signal(SIGHUP)
        #expect(await holds { RawSocket.welcomed(at: daemon.socketPath) != nil })
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("the level and the form of the log change in the running daemon")
    func log() async throws {
        let (daemon, control) = try await start("log: { level: error }\n")
        try write("log: { level: notice, format: json }\n" + DaemonProcess.example)
        #expect(try await control("reload").code == 0)
        #expect(!daemon.log.contains("applied the configuration"))
        #expect(await daemon.stop() == .exited(0))
        let last = try #require(daemon.log.split(separator: "\n").last)
        #expect(last.hasPrefix("{") && last.contains("stopped"))
    }
}
