import Foundation
import Glibc
import TestPrograms
import Testing

/// A real daemon with a socket that another process has opened, as a service manager does.
///
/// Drives ``BoundSocket``.
@Suite("Socket activation", .timeLimit(.minutes(10)))
struct ActivationTests {
    private let directory = TestDirectory()
    private var path: String { directory.path("s") }

    /// Opens the socket, and becomes the daemon with it as descriptor 3.
    private static let launcher = """
        import os, socket, sys
        kind, path, count, names = sys.argv[1:5]
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM)
        if kind == "file":
            made = open(path, "w")
        else:
            made.bind("\\0" + path if kind == "abstract" else path)
            if kind in ("listening", "abstract", "open"):
                made.listen(16)
            if kind == "open":
                os.chmod(path, 0o666)
        if made.fileno() != 3:
            os.dup2(made.fileno(), 3)
        os.set_inheritable(3, True)
        if count == "2":
            admin = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            admin.bind(path + ".admin")
            if kind == "open":
                os.chmod(path + ".admin", 0o660)
            admin.listen(16)
            if admin.fileno() != 4:
                os.dup2(admin.fileno(), 4)
            os.set_inheritable(4, True)
        os.environ["LISTEN_PID"] = str(os.getpid() if kind != "foreign" else 1)
        os.environ["LISTEN_FDS"] = count
        os.environ["LISTEN_FDNAMES"] = names
        os.execv(sys.argv[5], sys.argv[5:])
        """

    private func start(
        _ kind: String = "listening", count: String = "1", names: String = "reactord",
        at socket: String? = nil, config: String = DaemonProcess.example, name: String = "daemon"
    ) throws -> ChildProcess {
        let file = try directory.write(config, to: "\(name).yaml")
        return try ChildProcess(
            "/usr/bin/env",
            ["python3", "-c", Self.launcher, kind, path, count, names, Built.product("reactord")]
                + ["--config", file, "--socket", socket ?? path], in: directory, name: name)
    }

    private func identity() -> ino_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_ino : nil
    }

    @Test("the daemon serves an inherited socket, and leaves its file, its mode and its directory")
    func adopts() async throws {
        let daemon = try start()
        let client = await client()
        #expect(client?.isAnswered() == true, "\(daemon.errors)")
        let before = try #require(identity())
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(!names.contains("s.lock"))
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0), "\(daemon.errors)")
        #expect(identity() == before)
    }

    /// The ticks up to the last write of the metrics' file.
    private func tickCount() -> Int {
        directory.read("metrics").split(separator: "\n")
            .first { $0.hasPrefix("reactord_loop_lag_seconds_count ") }
            .flatMap { Int($0.split(separator: " ")[1]) } ?? 0
    }

    @Test("a second inherited socket is that for administrators")
    func adoptsBoth() async throws {
        let daemon = try start(count: "2", names: "reactord:reactord-admin")
        let client = await client()
        #expect(client?.isAnswered() == true, "\(daemon.errors)")
        #expect(RawSocket.welcomed(at: path + ".admin")?.isAnswered() == true)
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0), "\(daemon.errors)")
        #expect(FileManager.default.fileExists(atPath: path + ".admin"))
    }

    @Test("the socket for administrators may be adopted alone, beside a bound one")
    func adoptsAdmin() async throws {
        let main = directory.path("main")
        let daemon = try start(names: "reactord-admin", at: main)
        let client = await client()
        #expect(client?.isAnswered() == true, "\(daemon.errors)")
        #expect(RawSocket.welcomed(at: main)?.isAnswered() == true)
        let control = try ChildProcess(
            Built.product("reactorctl"), ["clients", "--socket", path], in: directory,
            name: "control")
        #expect(await control.ended() == .exited(0), "\(control.errors)")
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0), "\(daemon.errors)")
        #expect(identity() != nil && !FileManager.default.fileExists(atPath: main))
    }

    @Test("an adopted socket that admits every user needs access rules, as a bound one does")
    func open() async throws {
        let refused = try start("open", name: "refused")
        #expect(await refused.ended() == .exited(69))
        #expect(
            refused.errors.contains(
                "the socket at \(path) has mode 0666, which lets every user connect and do "
                    + "everything: add `access:`, or set SocketMode=0660"), "\(refused.errors)")
        try FileManager.default.removeItem(atPath: path)
        let rules = "access: { default: see }\n" + DaemonProcess.example
        let daemon = try start("open", config: rules, name: "guarded")
        let client = await client()
        #expect(client?.isAnswered() == true, "\(daemon.errors)")
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0), "\(daemon.errors)")
        try FileManager.default.removeItem(atPath: path)
        let admin = try start(
            "open", count: "2", names: "reactord:reactord-admin", config: rules, name: "admin")
        #expect(await admin.ended() == .exited(69))
        #expect(admin.errors.contains("mode 0660, and administrators are"), "\(admin.errors)")
    }

    @Test("a removed socket file is not bound again: the service manager owns it")
    func removed() async throws {
        let daemon = try start(
            config: "metrics: { textfile: \(directory.path("metrics")), every: 1s }\n"
                + DaemonProcess.example)
        let client = try #require(await client())
        try FileManager.default.removeItem(atPath: path)
        // The daemon looks for the socket's file at each tick, which it counts.
        let count = tickCount()
        #expect(await holds { tickCount() >= count + 2 })
        #expect(client.isAnswered())
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0))
        #expect(identity() == nil && !daemon.errors.contains("bound it again"))
    }

    @Test("clients that connect before the daemon runs are served, and a restart loses none")
    func queued() async throws {
        // This process keeps the socket, as a service manager does.
        let holder = try ChildProcess(
            "/usr/bin/env",
            [
                "python3", "-c",
                """
                import os, socket, subprocess, sys
                made = socket.socket(socket.AF_UNIX)
                made.bind(sys.argv[1])
                made.listen(16)
                print("listening", flush=True)
                for _ in range(2):
                    sys.stdin.readline()
                    child = os.fork()
                    if child == 0:
                        os.dup2(made.fileno(), 3)
                        os.set_inheritable(3, True)
                        os.environ["LISTEN_PID"] = str(os.getpid())
                        os.environ["LISTEN_FDS"] = "1"
                        os.execv(sys.argv[2], sys.argv[2:])
                    print("started", child, flush=True)
                    status = os.waitpid(child, 0)[1]
                    print("ended", status, flush=True)
                """, path, Built.product("reactord"), "--config",
                try directory.write(DaemonProcess.example, to: "r.yaml"), "--socket", path,
            ], input: "\n\n", in: directory, name: "holder")
        for run in 1...2 {
            let client = await client()
            #expect(client?.isAnswered() == true, "run \(run): \(holder.errors)")
            var started: [Substring] = []
            // The daemon may answer before its parent says so.
            #expect(
                await holds {
                    started = holder.output.split(separator: "\n")
                        .filter { $0.hasPrefix("started") }
                    return started.count == run
                })
            let pid = try #require(started.last.flatMap { Int32($0.dropFirst(8)) })
            kill(pid, SIGTERM)
            #expect(
                await holds {
                    holder.output.split(separator: "\n").count { $0 == "ended 0" } == run
                }, "\(holder.output)")
        }
        #expect(await holder.ended() == .exited(0))
    }

    @Test(
        "P80: an unfit socket is refused with 69 and the reason",
        arguments: [
            ("foreign", "LISTEN_PID"), ("bound", "not a listening Unix stream socket"),
            ("datagram", "not a listening Unix stream socket"),
            ("file", "not a listening Unix stream socket"), ("abstract", "has no path"),
        ])
    func unfit(kind: String, reason: String) async throws {
        let daemon = try start(kind)
        #expect(await daemon.ended() == .exited(69))
        #expect(daemon.errors.contains(reason), "\(daemon.errors)")
    }

    @Test("P80: another number, name or path than expected is refused with 69 and the reason")
    func mismatch() async throws {
        let count = try start(count: "3", names: "reactord:reactord-admin:x", name: "count")
        #expect(await count.ended() == .exited(69))
        #expect(count.errors.contains("LISTEN_FDS is \"3\", expected 1 or 2"))
        try FileManager.default.removeItem(atPath: path)
        let named = try start(names: "other", name: "named")
        #expect(await named.ended() == .exited(69))
        #expect(named.errors.contains("FileDescriptorName=reactord"))
        try FileManager.default.removeItem(atPath: path)
        let elsewhere = directory.path("t")
        let moved = try start(at: elsewhere, name: "moved")
        #expect(await moved.ended() == .exited(69))
        #expect(moved.errors.contains("the socket is at \(path), expected \(elsewhere)"))
        #expect(identity() != nil)
    }

    private func client() async -> RawSocket? {
        var client: RawSocket?
        _ = await holds {
            if DaemonProcess.accepts(path) { client = RawSocket.welcomed(at: path) }
            return client != nil
        }
        return client
    }
}
