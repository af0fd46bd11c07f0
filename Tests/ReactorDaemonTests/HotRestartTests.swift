import Foundation
import Glibc
import ReactorWire
import TestPrograms
import Testing

/// Real daemons that hand over to a new process of their program.
///
/// Drives ``Restarter``, ``Predecessor`` and ``ReactorLoop/SuccessorProgram``.
@Suite("Hot restart", .timeLimit(.minutes(10)))
struct HotRestartTests {
    private let rig = RestartRig()

    @Test("P122: a counting stream has no gap over several restarts, and no client connects again")
    func stream() async throws {
        try await rig.start()
        let watcher = try rig.socket()
        watcher.subscribe("/visits", number: 1)
        let writer = try rig.socket()
        #expect(writer.send(.open, id: 1, number: 1, Open(path: "/visits").wireBytes()))
        #expect(writer.frame()?.kind == .opened)
        var pids: Set<Int32> = [rig.pid]
        var count: UInt64 = 0
        // The last one is that of the question.
        let before = try await rig.connections().dropLast()
        for _ in 0..<5 {
            for _ in 0..<20 {
                count += 1
                #expect(
                    writer.send(.dispatch, id: 1, number: count, RestartRig.increment))
            }
            let report = try rig.restart()
            #expect(report.problem == nil && report.closed == 0)
            pids.insert(report.pid)
        }
        count += 1
        writer.send(.dispatch, id: 1, number: count, RestartRig.increment)
        var applied: UInt64 = 0
        while applied < count, let frame = writer.wholeFrame() {
            guard frame.header.kind == FrameKind.applied.rawValue else { continue }
            #expect(frame.header.number == applied + 1)
            applied += UInt64(frame.header.id)
        }
        #expect(applied == count)
        #expect(try await rig.connections().starts(with: before))
        #expect(pids.count == 6)
        // Every delta once, in order, and no snapshot after the first.
        var kinds: [FrameKind] = []
        var deltas: [UInt64] = []
        while deltas.count < Int(count), let frame = watcher.wholeFrame() {
            let kind = try #require(FrameKind(rawValue: frame.header.kind))
            if kind == .delta { deltas.append(frame.header.number) } else { kinds.append(kind) }
        }
        #expect(Set(kinds) == [.subscribed, .snapshot, .mark])
        #expect(kinds.count { $0 == .snapshot } == 1)
        #expect(zip(deltas, deltas.dropFirst()).allSatisfy { $0 < $1 })
        #expect(try await rig.control("get", "/visits").output == "{\"count\":\(count)}\n")
    }

    @Test("P122: the slow log keeps its entries over a restart, and counts on")
    func slowLog() async throws {
        let data = "data: { directory: \(rig.directory.path("data")) }\n"
        try await rig.start(
            config: "slowLog: { turns: 1us, entriesMax: 10000 }\n" + data + DaemonProcess.example)
        let increment = #"{"increment":{"by":1}}"#
        #expect(try await rig.control("dispatch", "/visits", increment).code == 0)
        let before = try await rig.control("slowlog").lines
        #expect(!before.isEmpty)
        #expect(try rig.restart().problem == nil)
        #expect(try await rig.control("dispatch", "/visits", increment).code == 0)
        let after = try await rig.control("slowlog").lines
        #expect(after.starts(with: before) && after.count > before.count)
        let numbers = try after.map { line -> WireValue? in
            guard case .map(let fields) = try WireValue(json: line) else { return nil }
            return fields["number"]
        }
        let expected = (1...UInt64(after.count)).map {
            WireValue.integer(WireInteger(isNegative: false, magnitude: $0))
        }
        #expect(numbers == expected)
    }

    @Test("P122: a lock stays held over several restarts, and passes to its waiter only after that")
    func lock() async throws {
        try await rig.start()
        let acquire = #"{"acquire":{"wait":true}}"#
        let stays = try rig.control.start(
            ["hold", "/team/lock", acquire, "--", "sh", "-c", "echo on; sleep 1000"], name: "stays")
        #expect(await stays.says("on"))
        let next = try rig.control.start(
            ["hold", "/team/lock", acquire, "--", "sh", "-c", "echo on; sleep 1000"], name: "next")
        let before = try await rig.waiters(1)
        for _ in 0..<3 { #expect(try rig.restart().problem == nil) }
        #expect(try await rig.control("get", "/team/lock").output == before)
        #expect(!next.output.contains("on"))
        stays.signal(SIGTERM)
        #expect(await next.says("on"))
        next.signal(SIGTERM)
        _ = await next.ended()
    }

    @Test("P122: a frame that was cut at any byte arrives whole, also the hello")
    func cutFrames() async throws {
        try await rig.start(limits: "{ handshakesMax: 512, handshakeDeadline: 1h }")
        var writer = WireWriter()
        let start = writer.beginFrame(.dispatch, id: 1, number: 1)
        writer.raw(RestartRig.increment)
        writer.endFrame(at: start)
        let frame = writer.bytes
        var acting: [(socket: RawSocket, cut: Int)] = []
        for cut in 1..<frame.count {
            let socket = try rig.socket()
            socket.send(.open, id: 1, number: 1, Open(path: "/visits").wireBytes())
            #expect(socket.frame()?.kind == .opened)
            socket.send(Array(frame[..<cut]))
            acting.append((socket, cut))
        }
        let hello = RawSocket.hello
        var greeting: [(socket: RawSocket, cut: Int)] = []
        for cut in 1..<hello.count {
            let socket = try #require(RawSocket(rig.socketPath))
            socket.send(Array(hello[..<cut]))
            greeting.append((socket, cut))
        }
        let report = try rig.restart()
        #expect(report.problem == nil && report.closed == 0)
        for (socket, cut) in acting {
            socket.send(Array(frame[cut...]))
            #expect(socket.frame()?.kind == .applied, "cut at \(cut)")
        }
        for (socket, cut) in greeting {
            socket.send(Array(hello[cut...]))
            #expect(socket.frame()?.kind == .welcome, "cut at \(cut)")
        }
        let count = frame.count - 1
        #expect(try await rig.control("get", "/visits").output == "{\"count\":\(count)}\n")
    }

    @Test("output that a client has not read arrives whole, from the next byte on")
    func unsentOutput() async throws {
        try await rig.start()
        let watcher = try rig.socket()
        watcher.subscribe("/settings", number: 1)
        let text = String(repeating: "x", count: 90_000)
        for index in 0..<8 {
            let run = try await rig.control(
                "dispatch", "/settings", #"{"set":{"key":"k","value":"\#(index)\#(text)"}}"#)
            #expect(run.code == 0)
            if index % 3 == 1 { #expect(try rig.restart().problem == nil) }
        }
        var deltas = 0
        while deltas < 8, let frame = watcher.wholeFrame() {
            let kind = FrameKind(rawValue: frame.header.kind)
            #expect(kind != .lag)
            if kind == .delta {
                #expect(String(decoding: frame.body, as: UTF8.self).contains("\(deltas)xxxx"))
                deltas += 1
            }
        }
        #expect(deltas == 8)
    }

    @Test("a client that follows the log is closed with DRAINING")
    func openQuestion() async throws {
        try await rig.start()
        let follower = try rig.socket()
        let ask = Question.log(
            path: "/", after: LogMark(row: 1_000_000, skip: 0), waits: true)
        follower.send(.ask, number: 1, ask.wireBytes())
        let other = try rig.socket()
        let report = try rig.restart()
        #expect(report.problem == nil)
        #expect(report.closed <= 1)
        var last: FrameKind?
        if report.closed == 1 {
            while let frame = follower.wholeFrame() {
                last = FrameKind(rawValue: frame.header.kind)
            }
            #expect(last == .closing)
        }
        #expect(other.isAnswered())
    }

    @Test("without `data:`, a restart is refused with the remedy")
    func inMemory() async throws {
        try await rig.start(config: DaemonProcess.example)
        let run = try await rig.control("restart")
        #expect(run.code == 66)
        #expect(run.errors.contains("configure `data:`"))
        #expect(await rig.stop())
    }

    @Test(
        "P122: with a program that does not serve, the former process goes on, and says why",
        arguments: [
            ("exit 3", "ended with exit code 3"), ("kill -TRAP $$", "was ended by signal 5"),
            ("sleep 1000", "did not serve in time"), (nil, "posix_spawn"),
        ])
    func badProgram(script: String?, reason: String) async throws {
        let program = try rig.replaceableProgram()
        try await rig.start(at: program)
        let (pid, client) = (rig.pid, try rig.socket())
        try FileManager.default.removeItem(atPath: program)
        if let script { try await rig.write(script: script, to: program) }
        let run = try await rig.control(
            "restart", "--pause", script == "sleep 1000" ? "1s" : "5m")
        #expect(run.code == 75 && run.errors.contains("process \(pid) goes on serving"))
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(client.isAnswered())
        #expect(rig.pid == pid)
        // The program is in its place again.
        try? FileManager.default.removeItem(atPath: program)
        try FileManager.default.createSymbolicLink(
            atPath: program, withDestinationPath: Built.product("reactord"))
        #expect(try rig.restart().problem == nil)
        #expect(client.isAnswered() && rig.pid != pid)
    }

    @Test("X109, P122: the mode and the group of the socket are those of the new configuration")
    func permissions() async throws {
        let data = "data: { directory: \(rig.directory.path("data")) }\n" + DaemonProcess.example
        try await rig.start(config: "socket: { mode: \"0660\", group: daemon }\n" + data)
        _ = try rig.directory.write(data, to: "reactord.yaml")
        #expect(try rig.restart().problem == nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: rig.socketPath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(attributes[.groupOwnerAccountID] as? UInt32 == getegid())
        #expect(try rig.socket().isAnswered())
    }

    @Test("a changed socket path is refused, and the former process goes on")
    func otherPath() async throws {
        try await rig.start(adminSocket: "a1")
        try rig.configure(adminSocket: "a2")
        let report = try rig.restart()
        #expect(report.problem?.contains("the admin socket is at") ?? false)
        try rig.configure(adminSocket: "a1")
        #expect(try rig.restart().problem == nil)
        #expect(DaemonProcess.accepts(rig.directory.path("a1")))
    }

    @Test(
        "P122: killed at any step, the former process or the new one serves",
        arguments: [
            "old-spawned", "old-ready", "old-go", "new-start", "new-read", "new-go", "new-opened",
        ])
    func killed(step: String) async throws {
        try await rig.start(environment: ["REACTORD_HANDOVER_FAULT": step])
        let (former, client) = (rig.pid, try rig.socket())
        client.send(.open, id: 1, number: 1, Open(path: "/visits").wireBytes())
        #expect(client.frame()?.kind == .opened)
        client.send(.dispatch, id: 1, number: 1, RestartRig.increment)
        #expect(client.frame()?.kind == .applied)
        _ = try? rig.restart()
        // The same connection, whichever process serves it.
        client.send(.dispatch, id: 1, number: 2, RestartRig.increment)
        #expect(client.frame()?.kind == .applied)
        #expect(await rig.holds { (rig.pid != former) == step.hasPrefix("old") })
        #expect(try await rig.control("get", "/visits").output == "{\"count\":2}\n")
        #expect(await rig.stop())
    }

    @Test("the service manager learns of the new process, and the signal ends that")
    func manager() async throws {
        let name = "reactor-manager-\(UInt64.random(in: .min ... .max))"
        let manager = try #require(NoticeListener(abstract: name))
        try await rig.start(environment: ["NOTIFY_SOCKET": "@" + name])
        #expect(manager.receive() == "READY=1")
        let report = try rig.restart()
        let notices = [manager.receive(), manager.receive()]
        #expect(Set(notices) == ["READY=1", "MAINPID=\(report.pid)"])
        #expect(await rig.formerEnds() == .exited(0))
        #expect(await rig.stop())
        #expect(!DaemonProcess.accepts(rig.socketPath))
        #expect(!FileManager.default.fileExists(atPath: rig.socketPath))
    }

    @Test(
        "P122: a reactor that changes its state at the start is taken over, and clients learn of it"
    )
    func changesAtStart() async throws {
        try await rig.start(
            program: "fickle-daemon",
            config: "data: { directory: \(rig.directory.path("data")) }\n",
            environment: ["FICKLE_TYPES": "starting"])
        let watch = try rig.control.start(["watch", "/"], name: "watch")
        #expect(await watch.says(#""state":{"count":1}"#))
        for count in 2...3 {
            let report = try rig.restart()
            #expect(report.problem == nil && report.closed == 0, "\(report)")
            #expect(await watch.says(#""state":{"count":\#(count)}"#), "\(watch.output)")
        }
    }

    @Test("after an upgrade with other types, their clients connect again, and others go on")
    func upgrade() async throws {
        let program = try rig.replaceableProgram("fickle-daemon")
        try await rig.start(
            program: "fickle-daemon",
            config: "data: { directory: \(rig.directory.path("data")) }\n",
            at: program)
        let (open, plain) = (try rig.socket(), try rig.socket())
        open.send(.open, id: 1, number: 1, Open(path: "/").wireBytes())
        #expect(open.frame()?.kind == .opened)
        try await rig.write(
            script: #"FICKLE_TYPES=renamed exec \#(Built.product("fickle-daemon")) "$@""#,
            to: program)
        // A program that cannot read the history does not take over.
        let refused = try rig.restart()
        #expect(refused.problem?.contains("count") ?? false, "\(refused)")
        #expect(plain.isAnswered())
        try await rig.write(
            script: #"FICKLE_TYPES=aliased exec \#(Built.product("fickle-daemon")) "$@""#,
            to: program)
        let report = try rig.restart()
        #expect(report.problem == nil && report.closed == 1, "\(report)")
        #expect(open.frame()?.kind == .closing)
        #expect(plain.isAnswered())
    }
}

/// A daemon that may be replaced by another process; the last process ends with the test.
final class RestartRig {
    let directory = TestDirectory()
    private var daemon: DaemonProcess?
    private var config = ""

    /// An action that adds one to a counter.
    static let increment: [UInt8] = (["increment": ["by": 1]] as WireValue).wireBytes()

    var socketPath: String { directory.path("s") }

    deinit {
        // A socket of the service manager has no file with the process.
        let pid = pid
        if pid > 0, isServed { kill(pid, SIGKILL) }
    }

    /// Starts the daemon, with data unless `config` says otherwise.
    func start(
        program: String = "reactord", config: String? = nil, adminSocket: String? = nil,
        limits: String = "{}", environment: [String: String] = [:], at executable: String? = nil
    ) async throws {
        self.config = config ?? "limits: \(limits)\n" + text(adminSocket)
        daemon = try await DaemonProcess.start(
            program, config: self.config, environment: environment, in: directory,
            at: executable)
    }

    private func text(_ adminSocket: String?) -> String {
        let admin = adminSocket.map { "admin: { socket: \(directory.path($0)) }\n" } ?? ""
        return "data: { directory: \(directory.path("data")) }\n" + admin + DaemonProcess.example
    }

    /// Changes the configuration's file.
    func configure(adminSocket: String) throws {
        _ = try directory.write(text(adminSocket), to: "reactord.yaml")
    }

    var control: Reactorctl {
        guard let daemon else { preconditionFailure("the daemon was not started") }
        return Reactorctl(daemon: daemon)
    }

    /// The process that serves, by the lock beside the socket.
    var pid: Int32 {
        Int32(directory.read("s.lock").trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    private var isServed: Bool { DaemonProcess.accepts(socketPath) }

    /// Waits until a condition holds.
    func holds(_ condition: () -> Bool) async -> Bool { await TestPrograms.holds(condition) }

    /// How the first process has ended.
    func formerEnds() async -> ChildProcess.Ending? { await daemon?.ended() }

    /// Ends the process that serves; returns whether its socket is gone then.
    func stop() async -> Bool {
        kill(pid, SIGTERM)
        return await holds { !isServed }
    }

    /// Connects and completes the handshake.
    func socket() throws -> RawSocket { try #require(RawSocket.welcomed(at: socketPath)) }

    /// Asks for a restart, on a new connection.
    func restart() throws -> RestartReport {
        let socket = try socket()
        // The tests beside this one may take the processors for long.
        socket.send(.ask, number: 1, Question.restart(pauseMax: 300_000).wireBytes())
        while let frame = socket.wholeFrame() {
            guard frame.header.kind == FrameKind.answer.rawValue else {
                if frame.header.kind == FrameKind.mark.rawValue { continue }
                throw DaemonProcess.Failure(reason: "sent \(frame)", log: daemon?.log ?? "")
            }
            return try RestartReport(wireBytes: frame.body)
        }
        throw DaemonProcess.Failure(reason: "gave no answer", log: daemon?.log ?? "")
    }

    /// The numbers of the open connections, in the order of their arrival.
    func connections() async throws -> [UInt64] {
        try await control("clients").lines.compactMap { line in
            guard case .map(let fields) = try WireValue(json: line),
                case .integer(let number)? = fields["connection"]
            else { return nil }
            return number.magnitude
        }
    }

    /// Waits until the lock has `count` waiters; returns its state.
    func waiters(_ count: Int) async throws -> String {
        while true {
            let state = try await control("get", "/team/lock").output
            guard case .map(let fields) = try WireValue(json: state),
                case .array(let waiters)? = fields["waiters"]
            else { throw DaemonProcess.Failure(reason: "has no lock", log: state) }
            if waiters.count == count { return state }
        }
    }

    /// The path of a link to a program, which a test may replace.
    func replaceableProgram(_ name: String = "reactord") throws -> String {
        let folder = directory.path("bin")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/" + name
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: Built.product(name))
        return path
    }

    /// Writes a program in place of another.
    func write(script: String, to path: String) async throws {
        let file = try directory.write("#!/bin/sh\n\(script)\n", to: "script")
        try await directory.install(file, at: path)
    }
}

extension RawSocket {
    /// Subscribes to a replica.
    func subscribe(_ path: String, number: UInt64) {
        send(.subscribe, number: number, Subscribe(path: path, mode: .replica).wireBytes())
    }
}
