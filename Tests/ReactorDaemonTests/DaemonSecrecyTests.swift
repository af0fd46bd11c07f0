import Foundation
import Glibc
import ReactorWire
import TestPrograms
import Testing

/// What a real daemon keeps to itself: its memory, its files, its descriptors, what clients send.
///
/// Drives ``ProcessDumps``.
@Suite("Secrets of a daemon", .timeLimit(.minutes(10)))
struct DaemonSecrecyTests {
    private let directory = TestDirectory()

    private var config: String {
        "data: { directory: \(directory.path("data")) }\n" + DaemonProcess.example
    }

    // MARK: Memory

    /// Starts a daemon through a shell command, in which `$0` is the program and `$@` its
    /// arguments.
    private func shell(_ line: String, config: String) throws -> ChildProcess {
        let file = try directory.write(config, to: "reactord.yaml")
        return try ChildProcess(
            "/bin/sh",
            ["-c", line, Built.product("reactord"), "--config", file, "--socket"]
                + [directory.path("s")],
            environment: ["SWIFT_BACKTRACE": "enable=no"], in: directory, name: UUID().uuidString)
    }

    private func serves(_ daemon: ChildProcess) async -> Bool {
        _ = await holds {
            DaemonProcess.accepts(directory.path("s")) || !daemon.isRunning
        }
        return daemon.isRunning
    }

    @Test(
        "X118: a crash leaves a core dump only if the configuration allows it",
        arguments: [false, true])
    func cores(isAllowed: Bool) async throws {
        let place = directory.path("cores")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let daemon = try shell(
            "ulimit -c unlimited; cd \(place); exec \"$0\" \"$@\"",
            config: isAllowed ? "process: { coreDumps: true }\n" + config : config)
        try #require(await serves(daemon), "\(daemon.errors)")
        daemon.signal(SIGSEGV)
        #expect(await daemon.ended() == .killed(signal: SIGSEGV))
        let files = try FileManager.default.contentsOfDirectory(atPath: place)
        // Elsewhere, the system passes dumps to a program, or writes them to another directory.
        let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
        let isHere = pattern.hasPrefix("core")
        #expect(files.isEmpty == !(isAllowed && isHere), "\(files) \(pattern)")
    }

    @Test(
        "X118: a process of the daemon's user cannot read its memory, unless the file allows that",
        .enabled(if: geteuid() == 0, "only root starts processes of another user"),
        arguments: [false, true])
    func memory(isAllowed: Bool) async throws {
        unsafe chown(directory.path, 1_001, 1_001)
        let text =
            (isAllowed ? "process: { coreDumps: true }\n" : "") + DaemonProcess.example
        let file = try directory.write(text, to: "reactord.yaml")
        // The umask of the test process may leave nothing to other users.
        unsafe chown(file, 1_001, 1_001)
        let daemon = try ChildProcess(
            as: 1_001,
            [Built.product("reactord"), "--config", file, "--socket", directory.path("s")],
            in: directory)
        try #require(await serves(daemon), "\(daemon.errors)")
        let reader = try ChildProcess(
            as: 1_001,
            ["/usr/bin/env", "python3", "-c", "open('/proc/\(daemon.pid)/mem', 'rb')"],
            in: directory)
        #expect(await reader.ended() == .exited(isAllowed ? 0 : 1), "\(reader.errors)")
        #expect(reader.errors.contains("PermissionError") != isAllowed, "\(reader.errors)")
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0))
    }

    // MARK: The log

    @Test("X118: neither the log nor the slow log contains what an action contains")
    func payloads() async throws {
        let secret = "hunter2-\(UInt64.random(in: .min ... .max))"
        let daemon = try await DaemonProcess.start(
            config: """
                log: { level: trace }
                slowLog: { actions: 1us, turns: 1us, commits: 1us, questions: 1us }
                limits: { frameBytesMax: 64KiB }
                \(config)
                """, in: directory)
        let control = Reactorctl(daemon: daemon)
        let set = "{\"set\":{\"key\":\"a\",\"value\":\"\(secret)\"}}"
        #expect(try await control("dispatch", "/settings", set).code == 0)
        for (path, action) in [
            ("/settings", "{\"\(secret)\":{}}"), ("/visits", set),
            ("/team/lock", "{\"release\":{\"token\":\"\(secret)\"}}"), ("/\(secret)", set),
        ] {
            let raw = try #require(RawSocket.welcomed(at: daemon.socketPath))
            raw.send(.open, number: 1, Open(path: path).wireBytes())
            raw.send(.dispatch, number: 1, try WireValue(json: action).wireBytes())
            raw.send(.dispatch, number: 2, Array(secret.utf8))
            raw.shutDown()
            #expect(!raw.rest().isEmpty)
        }
        for kind in [FrameKind.dispatch, .batch, .ask, .open, .subscribe, .hello] {
            let raw = try #require(RawSocket.welcomed(at: daemon.socketPath))
            raw.send(kind, number: 1, Array(secret.utf8))
            raw.shutDown()
            _ = raw.rest()
        }
        let text = try #require(RawSocket(daemon.socketPath))
        text.send(Array("GET /\(secret) HTTP/1.1\r\n\r\n".utf8))
        _ = text.rest()
        let slow = try await control("slowlog")
        #expect(slow.code == 0 && slow.output.contains("/settings"), "\(slow)")
        for shown in [slow.output, try await control("clients").output] {
            #expect(!shown.contains(secret), "\(shown)")
        }
        #expect(try await control("get", "/settings/entries/a").output == "\"\(secret)\"\n")
        #expect(await daemon.stop() == .exited(0))
        #expect(daemon.log.contains("closed a connection"))
        #expect(!daemon.log.contains(secret), "\(daemon.log)")
    }

    @Test(
        "X118: the log of past actions shows secrets to administrators alone",
        .enabled(if: geteuid() == 0, "only root starts processes of other users"))
    func history() async throws {
        try directory.openToAll()
        let daemon = try await DaemonProcess.start(
            "stubborn-daemon",
            config: """
                socket: { mode: "0666" }
                access:
                  rules:
                    - {path: /, to: {uid: 1001}, may: [read, history]}
                    - {path: /, to: {uid: 1002}, may: [read, history, admin]}
                data: { directory: \(directory.path("data")) }
                """, in: directory)
        let control = Reactorctl(daemon: daemon)
        #expect(try await control("dispatch", "/", #"{"whisper":"hunter2"}"#).code == 0)
        let tell = #"{"tell":{"name":"ada","text":"hunter3"}}"#
        #expect(try await control("dispatch", "/", tell).code == 0)
        let raw = try #require(RawSocket.welcomed(at: daemon.socketPath))
        raw.send(.open, number: 1, Open(path: "/").wireBytes())
        raw.send(.dispatch, number: 1, try WireValue(json: #"{"whispr":"hunter4"}"#).wireBytes())
        raw.shutDown()
        #expect(!raw.rest().isEmpty)
        for uid in [0, 1_001, 1_002] {
            let log = try ChildProcess(
                as: uid, reactorctl: ["log", "/"], socket: daemon.socketPath, in: directory)
            #expect(await log.ended() == .exited(0), "\(log.errors)")
            for secret in ["hunter2", "hunter3", "hunter4"] {
                #expect(log.output.contains(secret) == (uid != 1_001), "\(uid): \(log.output)")
            }
            #expect(log.output.contains("ada") && log.output.contains("whisper"))
            #expect(log.output.contains("(secret)") == (uid == 1_001))
        }
        #expect(await daemon.stop() == .exited(0))
    }

    // MARK: Files and descriptors

    @Test(
        "X115: a daemon refuses links in the place of its files, and changes nothing behind them",
        arguments: ["data/journal.sqlite", "data/snapshot-1.sqlite", "data/reserve", "s.lock"])
    func links(name: String) async throws {
        let daemon = try await DaemonProcess.start(config: config, in: directory)
        #expect(await daemon.stop() == .exited(0))
        let victim = try directory.write("keep", to: "victim")
        unsafe chmod(victim, 0o600)
        for isHard in [true, false] {
            unsafe unlink(directory.path(name))
            let status =
                isHard
                ? unsafe link(victim, directory.path(name))
                : unsafe symlink(victim, directory.path(name))
            #expect(status == 0)
            let run = try await DaemonProcess.run(
                config: config, arguments: ["--socket", directory.path("s")], in: directory)
            #expect(run.ending == .exited(69), "\(run.log)")
            #expect(directory.read("victim") == "keep")
        }
    }

    @Test("P83: a program that a daemon starts inherits none of its descriptors")
    func descriptors() async throws {
        let daemon = try await DaemonProcess.start(
            config: """
                admin: { socket: \(directory.path("admin")) }
                metrics: { socket: \(directory.path("metrics")), textfile: \(directory.path("m")) }
                \(config)
                """, in: directory)
        let control = Reactorctl(daemon: daemon)
        let clients = [daemon.socketPath, directory.path("admin")].compactMap {
            RawSocket.welcomed(at: $0)
        }
        #expect(clients.count == 2)
        let set = #"{"set":{"key":"a","value":1}}"#
        #expect(try await control("dispatch", "/settings", set).code == 0)
        #expect(try await control("snapshot").code == 0)
        #expect(try await control("backup", directory.path("backup")).code == 0)
        let follower = try control.start(["log", "/", "--follow"], name: "follower")
        #expect(await follower.says("set"))
        let open = daemon.openDescriptors.filter { $0 > 2 }
        #expect(open.count > 10, "\(open)")
        var examinedCount = 0
        for descriptor in open {
            // The daemon may have closed the descriptor since it was listed.
            guard
                let info = try? String(
                    contentsOfFile: "/proc/\(daemon.pid)/fdinfo/\(descriptor)", encoding: .utf8)
            else { continue }
            examinedCount += 1
            let flags = info.split(separator: "\n").first { $0.hasPrefix("flags:") }
                .flatMap { UInt32($0.split(separator: "\t")[1], radix: 8) }
            let isClosed = try #require(flags) & UInt32(O_CLOEXEC) != 0
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(daemon.pid)/fd/\(descriptor)")
            #expect(isClosed, "\(descriptor): \(target ?? "")")
        }
        #expect(examinedCount > 10, "\(open)")
        follower.signal(SIGTERM)
        #expect(await daemon.stop() == .exited(0))
    }
}
