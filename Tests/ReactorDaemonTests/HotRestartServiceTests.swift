import Foundation
import ReactorThreads
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon

/// Hot restarts of daemons as they run in production: with other users, with metrics, and with a
/// socket that a service manager has opened.
///
/// Drives ``Restarter``, ``MetricsEndpoint`` and ``BoundSocket``.
@Suite("Hot restart of a service", .timeLimit(.minutes(10)))
struct HotRestartServiceTests {
    private let rig = RestartRig()

    // MARK: Other users

    private static let rules = """
        socket: { mode: "0666" }
        access:
          rules:
            - {path: /visits, to: {uid: 1001}, may: use}
            - {path: /team/lock, to: {uid: 1001}, may: use}
        """

    private func config(_ head: String) -> String {
        """
        \(head)
        data: { directory: \(rig.directory.path("data")) }
        \(DaemonProcess.example)

        """
    }

    /// Starts `reactorctl` as uid 1001.
    private func start(_ arguments: [String], name: String) throws -> ChildProcess {
        try ChildProcess(
            as: 1_001, reactorctl: arguments, socket: rig.socketPath, in: rig.directory,
            name: name)
    }

    private func run(_ arguments: String...) async throws -> (code: Int32, errors: String) {
        let process = try start(arguments, name: UUID().uuidString)
        guard case .exited(let code) = await process.ended() else { return (-1, "") }
        return (code, process.errors)
    }

    private func serve(_ rules: String) async throws {
        try rig.directory.openToAll()
        try await rig.start(config: config(rules))
    }

    @Test(
        "P122, X109: another user's connection goes on with its lock and its rights, and no more",
        .enabled(if: geteuid() == 0, "only root starts processes of uid 1001"))
    func user() async throws {
        try await serve(Self.rules)
        let watch = try start(["watch", "/visits/count"], name: "watch")
        #expect(await watch.says(#""state":0"#), "\(watch.errors)")
        let holder = try start(
            ["hold", "/team/lock", #"{"acquire":{}}"#, "--", "sh", "-c", "echo on; sleep 1000"],
            name: "holder")
        #expect(await holder.says("on"), "\(holder.errors)")
        let lock = try await rig.control("get", "/team/lock").output
        let before = try await rig.connections().dropLast()
        for count in 1...3 {
            let set = #"{"set":{"key":"a","value":\#(count)}}"#
            #expect(try await rig.control("dispatch", "/settings", set).code == 0)
            let report = try rig.restart()
            #expect(report.problem == nil && report.closed == 0)
            #expect(try await rig.control("dispatch", "/settings", set).code == 0)
            #expect(try await run("dispatch", "/visits", #"{"increment":{"by":1}}"#).code == 0)
            #expect(await watch.says(#""state":\#(count)"#), "\(watch.output)")
            #expect(try await run("get", "/settings").code == 66)
            #expect(try await run("clients").code == 77)
        }
        #expect(try await rig.control("get", "/team/lock").output == lock)
        #expect(try await rig.connections().starts(with: before))
        // One line for each change that the user may see.
        #expect(watch.output.split(separator: "\n").count == 4, "\(watch.output)")
        holder.signal(SIGTERM)
        let free = try await rig.control("wait", "/team/lock/holder", "--equals", "null")
        #expect(free.code == 0)
        watch.signal(SIGTERM)
    }

    @Test(
        "X113: rules that a reload has tightened stay so after a hot restart",
        .enabled(if: geteuid() == 0, "only root starts processes of uid 1001"))
    func tightened() async throws {
        try await serve(Self.rules)
        let watch = try start(["watch", "/team/lock"], name: "watch")
        #expect(await watch.says("state"), "\(watch.errors)")
        let narrower = Self.rules.replacing(
            "/visits, to: {uid: 1001}, may: use", with: "/visits, to: {uid: 1001}, may: none")
        _ = try rig.directory.write(config(narrower), to: "reactord.yaml")
        #expect(try await rig.control("reload").code == 0)
        let hidden = try await run("get", "/visits/count")
        #expect(hidden.code == 66)
        let report = try rig.restart()
        #expect(report.problem == nil && report.closed == 0)
        #expect(try await run("get", "/visits/count") == hidden)
        #expect(try await run("dispatch", "/visits", #"{"increment":{"by":1}}"#).code == 66)
        // A file that a program cannot read any more does not loosen them: the former process goes on.
        _ = try rig.directory.write("access: [\n", to: "reactord.yaml")
        #expect(try rig.restart().problem != nil)
        #expect(try await run("get", "/visits/count") == hidden)
        #expect(watch.isRunning)
        watch.signal(SIGTERM)
    }

    // MARK: Metrics

    @Test("P122: every request at the metrics' socket is answered across hot restarts")
    func metrics() async throws {
        let path = rig.directory.path("m")
        try await rig.start(
            config: "metrics: { socket: \(path) }\n"
                + "data: { directory: \(rig.directory.path("data")) }\n" + DaemonProcess.example)
        let scrapers = try (1...3).map { _ in try Scraper(path) }
        for count in 1...8 {
            #expect(try rig.restart().problem == nil)
            // Each process answers some requests.
            let reached = scrapers.map { $0.count + 2 }
            #expect(
                await holds { zip(scrapers, reached).allSatisfy { $0.count >= $1 } },
                "after restart \(count)")
        }
        for scraper in scrapers { #expect(scraper.end() == []) }
        // A connection that sends nothing delays a restart, and does not prevent it.
        let silent = try #require(RawSocket(path))
        #expect(try rig.restart().problem == nil)
        #expect(silent.rest().isEmpty)
        #expect(await rig.stop())
        #expect(await holds { !FileManager.default.fileExists(atPath: path) })
    }

    /// Collects metrics again and again, on a thread.
    private final class Scraper: Sendable {
        private let results = Guarded((count: 0, failures: [String](), isEnding: false))
        private let thread: WorkThread

        init(_ path: String) throws {
            let results = results
            thread = try WorkThread(name: "scraper") {
                while !results.withLock({ $0.isEnding }) {
                    let begin = ContinuousClock.now
                    let socket = RawSocket(path)
                    let request = Array("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
                    let isSent = socket?.send(request) ?? false
                    let text = String(decoding: socket?.rest() ?? [], as: UTF8.self)
                    // A restart waits for a second for a request, which a busy machine may delay.
                    let isLate = begin.duration(to: .now) > .seconds(1)
                    let isWhole =
                        text.hasPrefix("HTTP/1.1 200 OK\r\n")
                        && text.contains("\nprocess_cpu_seconds_total ")
                    results.withLock { results in
                        results.count += 1
                        if !isWhole, !(isLate && text.isEmpty) {
                            results.failures.append("sent: \(isSent), got: \(text.prefix(80))")
                        }
                    }
                }
            }
        }

        var count: Int { results.withLock(\.count) }

        /// Ends the thread; returns what it did not get as expected.
        func end() -> [String] {
            results.withLock { $0.isEnding = true }
            thread.join()
            return results.withLock(\.failures)
        }
    }

    // MARK: Socket activation

    /// Opens the socket, becomes the daemon with it as descriptor 3.
    private static let launcher = """
        import os, socket, sys
        made = socket.socket(socket.AF_UNIX)
        made.bind(sys.argv[1])
        made.listen(64)
        if made.fileno() != 3:
            os.dup2(made.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ["LISTEN_PID"] = str(os.getpid())
        os.environ["LISTEN_FDS"] = "1"
        os.execv(sys.argv[2], sys.argv[2:])
        """

    private func identity() -> ino_t? {
        var status = stat()
        return unsafe lstat(rig.socketPath, &status) == 0 ? status.st_ino : nil
    }

    @Test("P122, P80: a socket of the service manager is handed over, and its file stays")
    func activated() async throws {
        let file = try rig.directory.write(config(""), to: "reactord.yaml")
        let daemon = try ChildProcess(
            "/usr/bin/env",
            [
                "python3", "-c", Self.launcher, rig.socketPath, Built.product("reactord"),
                "--config", file,
            ], in: rig.directory, name: "daemon")
        #expect(await holds { DaemonProcess.accepts(rig.socketPath) }, "\(daemon.errors)")
        let inode = try #require(identity())
        let client = try rig.socket()
        client.send(.open, id: 1, number: 1, Open(path: "/visits").wireBytes())
        #expect(client.frame()?.kind == .opened)
        var pid = daemon.pid
        defer { if pid > 0 { kill(pid, SIGKILL) } }
        for count in 1...3 as ClosedRange<UInt64> {
            let report = try rig.restart()
            #expect(report.problem == nil && report.closed == 0 && report.pid != pid)
            pid = report.pid
            client.send(.dispatch, id: 1, number: count, RestartRig.increment)
            #expect(client.frame()?.kind == .applied)
            #expect(try rig.socket().isAnswered())
            #expect(identity() == inode)
        }
        kill(pid, SIGTERM)
        _ = client.rest()
        // The last process has no parent that waits for it.
        #expect(await holds { kill(pid, 0) != 0 || Self.isZombie(pid) })
        #expect(identity() == inode)
        #expect(!FileManager.default.fileExists(atPath: rig.socketPath + ".lock"))
        #expect(await daemon.ended() == .exited(0))
    }

    private static func isZombie(_ pid: Int32) -> Bool {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        return text.contains(") Z ")
    }
}
