import Glibc
import ReactorWire
import TestPrograms
import Testing

/// Unusual environments of a start, and signals.
@Suite("The start of a daemon, and its signals", .timeLimit(.minutes(10)))
struct DaemonStartTests {
    private let home = TestDirectory()

    /// Starts a daemon through a shell command, in which `$0` is the program and `$@` its
    /// arguments.
    private func shell(
        _ line: String, config: String = DaemonProcess.example,
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let file = try home.write(config, to: "reactord.yaml")
        return try ChildProcess(
            "/bin/sh",
            ["-c", line, Built.product("reactord"), "--config", file, "--socket", home.path("s")],
            environment: environment, in: home, name: "daemon")
    }

    /// Waits for a client that the daemon welcomes; nil if the daemon ends instead.
    private func client(of daemon: ChildProcess) async -> RawSocket? {
        var isServing = false
        _ = await holds {
            isServing = DaemonProcess.accepts(home.path("s"))
            return isServing || !daemon.isRunning
        }
        return isServing ? RawSocket.welcomed(at: home.path("s")) : nil
    }

    private func mode(_ name: String) -> UInt32 {
        var status = stat()
        return unsafe stat(home.path(name), &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test(
        "a daemon started without descriptors 0 to 2 serves, and ends as usual",
        arguments: ["<&- >&- 2>&-", "<&-", "2>&-"])
    func noDescriptors(_ closed: String) async throws {
        let daemon = try shell("exec \"$0\" \"$@\" \(closed)")
        let client = await client(of: daemon)
        #expect(client?.isAnswered() == true)
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0))
    }

    @Test("unwritable output is an error, also if descriptor 1 was closed")
    func noOutput() async throws {
        let daemon = try await DaemonProcess.start()
        let run = try ChildProcess(
            "/bin/sh",
            [
                "-c", "exec \"$0\" ping --socket \"$1\" >&-", Built.product("reactorctl"),
                daemon.socketPath,
            ],
            in: daemon.directory, name: "closed")
        #expect(await run.ended() == .exited(74))
        #expect(run.errors.contains("standard output cannot be written"), "\(run.errors)")
    }

    @Test(
        "P79: a daemon starts without HOME, in a removed directory, with any umask",
        arguments: ["0000", "0777"])
    func bareEnvironment(umask: String) async throws {
        let gone = home.path("gone")
        let data = "data:\n  directory: \(home.path("data"))\n"
        let daemon = try shell(
            "mkdir \(gone); cd \(gone); rmdir \(gone); umask \(umask); unset HOME; "
                + "exec \"$0\" \"$@\"",
            config: data + DaemonProcess.example)
        let client = await client(of: daemon)
        #expect(client?.isAnswered() == true, "\(daemon.errors)")
        #expect(mode("data") == 0o700 && mode("data/journal.sqlite") == 0o600)
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0))
    }

    @Test("SIGHUP stays ignored if it was ignored at the start, as after nohup")
    func noHangUp() async throws {
        let daemon = try shell("trap '' HUP; exec \"$0\" \"$@\"")
        let client = await client(of: daemon)
        daemon.signal(SIGHUP)
        #expect(client?.isAnswered() == true)
        daemon.signal(SIGTERM)
        #expect(await daemon.ended() == .exited(0))
    }

    @Test("other signals have no effect on a daemon")
    func straySignals() async throws {
        let daemon = try await DaemonProcess.start()
        let client = try #require(RawSocket.welcomed(at: daemon.socketPath))
        let stray = [
            SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGPIPE,
            SIGXFSZ, 34, 64,
        ]
        for signal in stray {
            daemon.signal(signal)
            #expect(client.isAnswered(), "after signal \(signal)")
        }
        #expect(await daemon.stop() == .exited(0))
    }

    @Test(
        "SIGTERM right after the first accept ends the daemon in an orderly way", arguments: 0..<5)
    func earlySignal(_ number: Int) async throws {
        let daemon = try await DaemonProcess.start()
        #expect(await daemon.stop() == .exited(0))
        #expect(daemon.log.contains("stopped"), "\(daemon.log)")
    }
}

// MARK: - The log
extension DaemonStartTests {
    /// Makes a full fifo without a reader as standard error; returns its descriptor.
    private func fullFifo() throws -> Int32 {
        let path = home.path("fifo")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        try #require(descriptor >= 0)
        let bytes = [UInt8](repeating: 0x0a, count: 4_096)
        while unsafe write(descriptor, bytes, bytes.count) > 0 {}
        return descriptor
    }

    @Test(
        "P82: a log that is not read delays neither clients nor SIGTERM, and counts what it drops")
    func stalledReader() async throws {
        let fifo = try fullFifo()
        defer { close(fifo) }
        let daemon = try shell(
            "exec \"$0\" \"$@\" 2>\(home.path("fifo"))",
            config: "metrics: { textfile: \(home.path("m")), every: 1s }\n" + DaemonProcess.example)
        let client = await client(of: daemon)
        #expect(client?.isAnswered() == true)
        // Each reading of this file logs 50,000 bytes, and 256 KiB may wait.
        let problems = (0..<200).map { "\(String(repeating: "x", count: 100))\($0): 1\n" }
        _ = try home.write(problems.joined() + DaemonProcess.example, to: "reactord.yaml")
        func droppedCount() -> Int {
            home.read("m").split(separator: "\n")
                .first { $0.hasPrefix("reactord_log_dropped_total ") }
                .flatMap { Int($0.split(separator: " ")[1]) } ?? 0
        }
        let isDropped = await holds {
            daemon.signal(SIGHUP)
            return droppedCount() > 0
        }
        #expect(isDropped)
        #expect(client?.isAnswered() == true)
        daemon.signal(SIGTERM)
        #expect(client?.frame()?.kind == .closing)
        #expect(await daemon.ended() == .exited(0))
    }
}
