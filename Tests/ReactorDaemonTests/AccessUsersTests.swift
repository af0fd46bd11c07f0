import Foundation
import ReactorWire
import TestPrograms
import Testing

/// Processes of other users at two daemons, of which one has a hidden node that the other lacks.
///
/// Only root can start a process of another user: without root, these tests are skipped.
@Suite(
    "What another user can tell", .timeLimit(.minutes(10)),
    .enabled(if: geteuid() == 0, "only root starts processes of uid 1001 and 65534"))
struct AccessUsersTests {
    /// The two daemons.
    private let here: DaemonProcess
    private let away: DaemonProcess

    private static let users = [1_001, 65_534]

    init() async throws {
        here = try await Self.start(hidden: "\n  zvault: { kind: map }")
        away = try await Self.start()
        // As many transactions in both: revisions count those of hidden nodes.
        for (daemon, path) in [(here, "/zvault"), (away, "/settings")] {
            let action = #"{"set":{"key":"a","value":1}}"#
            _ = try await Reactorctl(daemon: daemon)("dispatch", path, action)
            _ = try await Reactorctl(daemon: daemon)("dispatch", path, action)
        }
    }

    /// A daemon with data, whose rules by default name neither `settings` nor `zvault`.
    private static func start(
        _ rules: String = rules, hidden: String = ""
    ) async throws -> DaemonProcess {
        let directory = try TestDirectory().openToAll()
        return try await DaemonProcess.start(
            config: """
                socket: { mode: "0666" }
                \(rules)
                data: { directory: \(directory.path("data")) }
                \(DaemonProcess.example)\(hidden)
                """, in: directory)
    }

    private static let rules = """
        access:
          rules:
            - {path: /visits, to: {uid: 1001}, may: [read, actions, history]}
            - {path: /team/lock, to: anyone, may: use}
            - {path: /settings, to: {gid: 4242}, may: use}
        """

    // MARK: The program

    @Test("X109, X112: reactorctl shows another user nothing of a hidden node", arguments: users)
    func commands(uid: Int) async throws {
        let set = #"{"set":{"key":"a","value":1}}"#
        for arguments in [
            ["tree"], ["describe", "/zvault"], ["describe", "/"], ["get", "/"],
            ["get", "/zvault"], ["get", "/zvault/entries/a"], ["get", "/zvault", "--at", "1"],
            ["watch", "/zvault"], ["watch", "/zvault/entries"], ["dispatch", "/zvault", set],
            ["dispatch", "/zvault", #"{"none":{}}"#], ["log", "/zvault"], ["log", "/"],
            ["export", "/zvault"], ["export"], ["release", "/zvault", "1"],
            ["hold", "/zvault", set, "--", "/bin/true"],
            ["wait", "/zvault/entries/a", "--equals", "1"], ["stats"], ["clients"], ["reload"],
        ] {
            let seen = try await run(arguments, at: here, uid: uid)
            let other = try await run(arguments, at: away, uid: uid)
            #expect(seen == other, "\(arguments)")
            #expect(!seen.output.contains("zvault"), "\(arguments)")
        }
        // The same comparison, of a user to whom nothing is hidden.
        for arguments in [["tree"], ["get", "/zvault"], ["get", "/"], ["log", "/"]] {
            let seen = try await run(arguments, at: here, uid: 0)
            #expect(try await run(arguments, at: away, uid: 0) != seen, "\(arguments)")
        }
    }

    @Test("X109: each user sees what the rules grant: uid 65534 only what they grant to anyone")
    func granted() async throws {
        func lines(_ run: Run) throws -> Set<WireValue> {
            Set(
                try run.output.split(separator: "\n").compactMap { line in
                    guard case .map(let entry) = try WireValue(json: String(line)) else {
                        return nil
                    }
                    return entry["path"]
                })
        }
        #expect(
            try lines(await run(["tree"], at: here, uid: 1_001))
                == ["/", "/visits", "/team", "/team/lock"])
        #expect(
            try lines(await run(["tree"], at: here, uid: 65_534, groups: "4242"))
                == ["/", "/team", "/team/lock"])
        #expect(
            try lines(await run(["tree"], at: here, uid: 1_002, groups: "4242"))
                == ["/", "/settings", "/team", "/team/lock"])
        let increment = ["dispatch", "/visits", #"{"increment":{"by":1}}"#]
        #expect(try await run(increment, at: here, uid: 1_001).code == 0)
        #expect(try await run(increment, at: here, uid: 65_534).code == 66)
        #expect(try await run(["get", "/visits/count"], at: here, uid: 1_001).output == "1\n")
        // `log` shows whole transactions, so it needs `history` everywhere.
        #expect(try await run(["log", "/visits"], at: here, uid: 1_001).code == 77)
        let watch = try start(["watch", "/visits/count"], at: here, uid: 1_001)
        #expect(await watch.says(#""state":1"#), "\(watch.errors)")
        watch.signal(SIGTERM)
    }

    @Test("X120: uid 65534 stands for different users, and releases no lock of uid 65534")
    func unknownOwner() async throws {
        let holder = try start(
            ["hold", "/team/lock", #"{"acquire":{}}"#, "--", "/bin/sleep", "3600"], at: here,
            uid: 65_534)
        let root = Reactorctl(daemon: here)
        let held = try await root("wait", "/team/lock/lastToken", "--equals", "1")
        #expect(held.code == 0, "\(held)\(holder.errors)")
        let number = try await root("get", "/team/lock/holder/client/connection").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let token = #"{"release":{"token":1}}"#
        for uid in Self.users {
            for arguments in [
                ["dispatch", "/team/lock", token], ["release", "/team/lock", number],
            ] {
                let refused = try await run(arguments, at: here, uid: uid)
                #expect(refused.code == 77, "\(uid) \(arguments) \(refused)")
                #expect(refused.errors.contains("do not grant you own"), "\(refused)")
            }
        }
        #expect(try await root("get", "/team/lock/holder").output != "null\n")
        #expect(try await root("release", "/team/lock", number).code == 0)
        holder.signal(SIGKILL)
    }

    @Test("X112: the past of a hidden node has the answers of a node that never existed")
    func past() async throws {
        let daemon = try await Self.start(
            """
            access:
              rules:
                - {path: /, to: {uid: 1001}, may: [read, history]}
                - {path: /, to: {uid: 1002}, may: read}
                - {path: /settings, to: anyone, may: none}
            """)
        let set = #"{"set":{"key":"a","value":1}}"#
        #expect(try await Reactorctl(daemon: daemon)("dispatch", "/settings", set).code == 0)
        for (uid, code) in [(1_001, Int32(66)), (1_002, 77), (1_003, 66)] {
            for arguments in [
                ["get", "PATH", "--at", "1"], ["get", "PATH", "--at", "9"], ["export", "PATH"],
                ["get", "PATH/entries/a", "--at", "1"], ["export", "PATH", "--at", "1"],
            ] {
                func answer(_ path: String) async throws -> Run {
                    let arguments = arguments.map { $0.replacing("PATH", with: path) }
                    var run = try await run(arguments, at: daemon, uid: uid)
                    run.errors = run.errors.replacing(path, with: "PATH")
                    return run
                }
                let hidden = try await answer("/settings")
                #expect(try await answer("/settinga") == hidden, "\(uid) \(arguments)")
                // The history has no revision 9.
                #expect(hidden.code == code || arguments.contains("9"), "\(hidden)")
            }
        }
        let root = try await run(["get", "/settings/entries/a", "--at", "1"], at: daemon, uid: 0)
        #expect(root.output == "1\n", "\(root)")
        let other = try await run(["get", "/visits/count", "--at", "1"], at: daemon, uid: 1_001)
        #expect(other.output == "0\n", "\(other)")
    }

    // MARK: Bytes

    @Test("X112: to another user, a hidden node has the bytes of an absent one", arguments: users)
    func bytes(uid: Int) async throws {
        let seen = try await exchange(requests, with: here, uid: uid)
        let other = try await exchange(requests, with: away, uid: uid)
        #expect(seen == other)
        #expect(seen.count > requests.count)
        let all = try await exchange(requests, with: here, uid: 0)
        #expect(try await exchange(requests, with: away, uid: 0) != all)
    }

    @Test("X114: a user resumes its session, and uid 65534 none, which may be another user's")
    func sessions() async throws {
        for (uid, isResumed) in [(1_001, true), (65_534, false)] {
            let first = try await welcome(of: Hello(program: "raw"), at: here, uid: uid)
            let hello = Hello(session: first.session, program: "raw", epoch: first.epoch)
            let again = try await welcome(of: hello, at: here, uid: uid)
            #expect(again.isResumed == isResumed && (again.session == first.session) == isResumed)
            let foreign = try await welcome(of: hello, at: here, uid: 1_002)
            #expect(!foreign.isResumed && foreign.session != first.session)
        }
    }

    /// Requests about the hidden node, the nodes above it and a visible one.
    private var requests: [[UInt8]] {
        var bytes: [[UInt8]] = []
        func add(_ kind: FrameKind, id: UInt32 = 0, _ body: [UInt8]) {
            let number = UInt64(bytes.count + 1)
            bytes.append(Self.frame(kind, id: id, number: number, body))
        }
        let revision = Revision(epoch: 1, sequence: 1)
        for (id, path) in ["/zvault", "/zvault/entries", "/zvault/entries/a", "/", "/visits"]
            .enumerated()
        {
            add(.open, id: UInt32(id), Open(path: path).wireBytes())
            for mode in [SubscriptionMode.value, .replica] {
                add(.subscribe, Subscribe(path: path, mode: mode).wireBytes())
                add(.ask, Question.checksum(path: path, mode: mode).wireBytes())
            }
            add(
                .subscribe,
                Subscribe(path: path, mode: .selection, selection: Selection()).wireBytes())
            var asks: [Question] = [
                .get(path: path), .describe(path: path), .types(path: path),
                .select(path: path, selection: Selection()),
            ]
            // Those about the past that are granted are answered by another thread, in any order.
            if path != "/visits" {
                asks += [
                    .past(path: path, at: revision), .export(path: path), .log(path: path),
                ]
            }
            for ask in asks { add(.ask, ask.wireBytes()) }
        }
        for ask in [Question.tree, .stats, .metrics, .clients] { add(.ask, ask.wireBytes()) }
        return bytes
    }

    private static func frame(
        _ kind: FrameKind, id: UInt32 = 0, number: UInt64, _ body: [UInt8] = []
    ) -> [UInt8] {
        var writer = WireWriter()
        let start = writer.beginFrame(kind, id: id, number: number)
        writer.raw(body)
        writer.endFrame(at: start)
        return writer.bytes
    }
}

// MARK: - Processes of other users
extension AccessUsersTests {
    /// The result of a program.
    private struct Run: Equatable {
        var code: Int32
        var output: String
        var errors: String
    }

    private func start(
        _ arguments: [String], at daemon: DaemonProcess, uid: Int, groups: String = ""
    ) throws -> ChildProcess {
        try ChildProcess(
            as: uid, groups: groups, reactorctl: arguments, socket: daemon.socketPath,
            in: daemon.directory)
    }

    /// Runs `reactorctl` as another user; the directory is left out of its texts.
    private func run(
        _ arguments: [String], at daemon: DaemonProcess, uid: Int, groups: String = ""
    ) async throws -> Run {
        let process = try start(arguments, at: daemon, uid: uid, groups: groups)
        guard case .exited(let code) = await process.ended() else {
            return Run(code: -1, output: process.output, errors: process.errors)
        }
        func text(_ text: String) -> String {
            text.replacingOccurrences(of: daemon.directory.path, with: "")
        }
        return Run(code: code, output: text(process.output), errors: text(process.errors))
    }

    /// Sends the bytes of standard input, and prints what comes back up to the answer to a second
    /// ping, which it sends after the first: by then all other answers have arrived.
    private static let relay = """
        import socket, struct, sys
        link = socket.socket(socket.AF_UNIX)
        link.connect(sys.argv[1])
        link.sendall(bytes.fromhex(sys.stdin.read()))
        header = struct.Struct("<IBBHIQ")
        got, at, pongs = b"", 0, 0
        while pongs < 2:
            piece = link.recv(1 << 16)
            if not piece:
                break
            got += piece
            while len(got) >= at + 20 and len(got) >= at + 20 + header.unpack_from(got, at)[0]:
                length, kind = header.unpack_from(got, at)[:2]
                at += 20 + length
                if kind == 0x4E:
                    pongs += 1
                    link.sendall(header.pack(0, 0x0A, 0, 0, 0, 2) if pongs == 1 else b"")
        print(got.hex())
        """

    /// Sends `hello` and requests in one write as another user; returns the frames that come back.
    private func frames(
        after hello: Hello, _ requests: [[UInt8]], from daemon: DaemonProcess, uid: Int
    ) async throws -> [Received] {
        var bytes = Self.frame(.hello, number: Hello.magic, hello.wireBytes())
        for request in requests + [Self.frame(.ping, number: 1)] { bytes += request }
        let process = try ChildProcess(
            as: uid, ["/usr/bin/env", "python3", "-c", Self.relay, daemon.socketPath],
            input: bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }
                .joined(), in: daemon.directory)
        #expect(await process.ended() == .exited(0), "\(process.errors)")
        var digits = process.output.utf8.filter { $0 != UInt8(ascii: "\n") }[...]
        var answer: [UInt8] = []
        while digits.count > 1 {
            let text = String(decoding: digits.prefix(2), as: UTF8.self)
            answer.append(try #require(UInt8(text, radix: 16)))
            digits = digits.dropFirst(2)
        }
        return try Received.parse(answer)
    }

    private func welcome(
        of hello: Hello, at daemon: DaemonProcess, uid: Int
    ) async throws -> Welcome {
        // A session is kept from its first action on.
        let requests = [
            Self.frame(.open, number: 1, Open(path: "/team/lock").wireBytes()),
            Self.frame(
                .dispatch, number: 1, (["release": ["token": 99]] as WireValue).wireBytes()),
        ]
        let all = try await frames(after: hello, requests, from: daemon, uid: uid)
        return try Welcome(wireBytes: try #require(all.first).body)
    }

    /// The frames that follow the welcome, with 0 in the place of the daemon's epoch.
    private func exchange(
        _ requests: [[UInt8]], with daemon: DaemonProcess, uid: Int
    ) async throws -> [Received] {
        let all = try await frames(
            after: Hello(program: "raw"), requests, from: daemon, uid: uid)
        let welcome = try Welcome(wireBytes: try #require(all.first).body)
        let epoch = welcome.epoch.wireBytes()
        return all.dropFirst().map { frame in
            var frame = frame
            var index = 0
            while index + epoch.count <= frame.body.count {
                if Array(frame.body[index..<index + epoch.count]) == epoch {
                    frame.body.replaceSubrange(index..<index + epoch.count, with: [0])
                }
                index += 1
            }
            return frame
        }
    }
}

/// A frame as it arrived.
private struct Received: Equatable {
    var kind: UInt8
    var flags: FrameFlags
    var id: UInt32
    var number: UInt64
    var body: [UInt8]

    static func parse(_ bytes: [UInt8]) throws -> [Received] {
        var frames: [Received] = []
        var offset = 0
        while offset < bytes.count {
            let header = try #require(
                try FrameHeader.decode(
                    bytes.span, at: offset, frameBytesMax: Int(UInt32.max)))
            let start = offset + FrameHeader.byteCount
            offset = start + Int(header.length)
            frames.append(
                Received(
                    kind: header.kind, flags: header.flags, id: header.id, number: header.number,
                    body: Array(bytes[start..<offset])))
        }
        return frames
    }
}
