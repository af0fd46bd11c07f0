import Foundation
import ReactorWire
import TestPrograms
import Testing

/// Clients of other users at a real daemon, by the identities that the kernel reports.
///
/// Only root can start a process of another user: without root, these tests are skipped.
@Suite(
    "Clients of other users", .timeLimit(.minutes(10)),
    .enabled(if: geteuid() == 0, "the tests do not run as root"))
struct AccessProcessTests {
    private static let config = """
        socket: { mode: "0666" }
        access:
          rules:
            - {path: /visits, to: {uid: 12345}, may: [read, {actions: [increment]}]}
            - {path: /settings, to: {gid: 4242}, may: use}
            - {path: /team/lock, to: anyone, may: see}
        \(DaemonProcess.example)
        """

    /// Runs `reactorctl` as another user.
    private func run(
        _ arguments: String..., of daemon: DaemonProcess, uid: Int, groups: String = ""
    ) async throws -> (code: Int32, output: String, errors: String) {
        let process = try ChildProcess(
            as: uid, groups: groups, reactorctl: arguments, socket: daemon.socketPath,
            in: daemon.directory)
        guard case .exited(let code) = await process.ended() else { return (-1, "", "") }
        return (code, process.output, process.errors)
    }

    private func start() async throws -> DaemonProcess {
        try await DaemonProcess.start(config: Self.config, in: TestDirectory().openToAll())
    }

    @Test("X109: a user reads and changes what the rules grant, and finds nothing else")
    func user() async throws {
        let daemon = try await start()
        let tree = try await run("tree", of: daemon, uid: 12_345)
        #expect(tree.code == 0, "\(tree.errors)")
        #expect(tree.output.contains("/visits") && tree.output.contains("/team/lock"))
        #expect(!tree.output.contains("/settings"))
        let increment = try await run(
            "dispatch", "/visits", #"{"increment":{"by":3}}"#, of: daemon, uid: 12_345)
        #expect(increment.code == 0, "\(increment.errors)")
        let reset = try await run(
            "dispatch", "/visits", #"{"reset":{}}"#, of: daemon, uid: 12_345)
        #expect(reset.code != 0 && reset.errors.contains("do not grant"), "\(reset.errors)")
        #expect(try await run("get", "/visits/count", of: daemon, uid: 12_345).output == "3\n")
        let hidden = try await run("get", "/settings", of: daemon, uid: 12_345)
        let absent = try await run("get", "/nothing", of: daemon, uid: 12_345)
        #expect(hidden.code == absent.code && hidden.code != 0)
        #expect(hidden.errors == absent.errors.replacing("/nothing", with: "/settings"))
        let stats = try await run("stats", of: daemon, uid: 12_345)
        #expect(stats.code == 77, "\(stats.errors)")
        #expect(try await run("get", "/team/lock", of: daemon, uid: 12_345).code == 77)
    }

    @Test("X109: supplementary groups count, a user without rules sees little, and root everything")
    func groups() async throws {
        let daemon = try await start()
        let member = try await run(
            "dispatch", "/settings", #"{"set":{"key":"a","value":1}}"#, of: daemon, uid: 777,
            groups: "1,4242")
        #expect(member.code == 0, "\(member.errors)")
        let tree = try await run("tree", of: daemon, uid: 777)
        #expect(tree.output.contains("/team/lock") && !tree.output.contains("/settings"))
        let unknown = try await run("tree", of: daemon, uid: 65_534, groups: "4242")
        #expect(unknown.output.contains("/team/lock") && !unknown.output.contains("/settings"))
        let root = try await Reactorctl(daemon: daemon)("tree")
        #expect(root.output.contains("/settings") && root.output.contains("/visits"))
    }

    @Test("X120: a lock of another user is released with `own` alone, by its token or by `release`")
    func own() async throws {
        let directory = try TestDirectory().openToAll()
        let daemon = try await DaemonProcess.start(
            config: """
                socket: { mode: "0666" }
                access:
                  rules:
                    - {path: /team, to: anyone, may: use}
                    - {path: /team, to: {uid: 12345}, may: [see, read, own]}
                    - {path: /team, to: {uid: 12346}, may: use}
                data: { directory: \(directory.path("data")) }
                \(DaemonProcess.example)
                """, in: directory)
        let holder = try ChildProcess(
            as: 777,
            reactorctl: ["hold", "/team/lock", #"{"acquire":{}}"#, "--", "/bin/sleep", "3600"],
            socket: daemon.socketPath, in: directory)
        let reactorctl = Reactorctl(daemon: daemon)
        let watch = try await reactorctl(
            "wait", "/team/lock/lastToken", "--equals", "1")
        #expect(watch.code == 0, "\(watch)\(holder.errors)")
        let number = try await reactorctl("get", "/team/lock/holder/client/connection").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let token = try await run(
            "dispatch", "/team/lock", #"{"release":{"token":1}}"#, of: daemon, uid: 12_346)
        #expect(token.code == 77 && token.errors.contains("do not grant you own"), "\(token)")
        let refused = try await run("release", "/team/lock", number, of: daemon, uid: 12_346)
        #expect(refused.code != 0 && refused.errors.contains("do not grant you own"), "\(refused)")
        let released = try await run("release", "/team/lock", number, of: daemon, uid: 12_345)
        #expect(released.code == 0, "\(released)")
        #expect(try await reactorctl("get", "/team/lock/holder").output == "null\n")
        let log = try await reactorctl("log", "/team/lock").output
        #expect(log.contains("release") && log.contains("12345"), "\(log)")
        holder.signal(SIGKILL)
    }

    @Test("X113: tighter rules end what they forbid at the reload, and other clients go on")
    func tighter() async throws {
        let daemon = try await start()
        let watch = try ChildProcess(
            as: 12_345, reactorctl: ["watch", "/visits/count"], socket: daemon.socketPath,
            in: daemon.directory)
        #expect(await holds { watch.output.contains(#""state":0"#) }, "\(watch.errors)")
        let reactorctl = Reactorctl(daemon: daemon)
        let text = Self.config.replacing("may: [read, {actions: [increment]}]", with: "may: none")
        _ = try daemon.directory.write(text, to: "reactord.yaml")
        let reload = try await reactorctl("reload")
        #expect(reload.code == 0 && reload.output.contains("access"), "\(reload)")
        #expect(try await reactorctl("dispatch", "/visits", #"{"increment":{"by":7}}"#).code == 0)
        #expect(await watch.ended() == .exited(66), "\(watch.output)\(watch.errors)")
        #expect(!watch.output.contains(#""state":7"#))
        let action = try await run(
            "dispatch", "/visits", #"{"increment":{"by":3}}"#, of: daemon, uid: 12_345)
        #expect(action.code == 66, "\(action.errors)")
        #expect(try await reactorctl("get", "/visits/count").output == "7\n")
    }

    @Test(
        "a rule for a missing path or an unknown action is refused with its line and the nearest name",
        arguments: [
            (
                "path: /visits/count, to: anyone, may: use",
                "\"count\" is a part of the state of /visits: rules hold for whole reactors, "
                    + "name /visits"
            ),
            (
                "path: /visit, to: anyone, may: use",
                "no node \"visit\" in /, did you mean visits?"
            ),
            (
                "path: /visits, to: anyone, may: [{actions: [incremnt]}]",
                "unknown action \"incremnt\" at and below /visits, did you mean increment?"
            ),
        ])
    func unknown(rule: String, problem: String) async throws {
        let directory = TestDirectory()
        let file = try directory.write(
            "access:\n  rules:\n    - {\(rule)}\n" + DaemonProcess.example, to: "r.yaml")
        let check = try ChildProcess(
            Built.product("reactord"), ["--check", "--config", file], in: directory, name: "check")
        #expect(await check.ended() == .exited(65))
        #expect(check.errors.contains("r.yaml:3:7: access.rules[0]: \(problem)"), "\(check.errors)")
    }

    /// Connects, has the program in the second argument write the file in the third to the
    /// connection, and prints in hexadecimal digits what comes back. Becomes the user in the fourth
    /// argument after the connect, if there is one.
    private static let helped = """
        import os, socket, sys
        link = socket.socket(socket.AF_UNIX)
        link.connect(sys.argv[1])
        if len(sys.argv) > 4:
            os.setresuid(*[int(sys.argv[4])] * 3)
        child = os.fork()
        if child == 0:
            os.dup2(link.fileno(), 1)
            os.execv(sys.argv[2], sys.argv[2:4])
        if os.waitpid(child, 0)[1] != 0:
            sys.exit("the helper failed")
        got = b""
        try:
            link.shutdown(socket.SHUT_WR)
            while piece := link.recv(1 << 16):
                got += piece
        except OSError:
            pass
        print(got.hex())
        """

    /// The frames of a client that sends an action to `/settings`.
    private static func requests() throws -> Data {
        var writer = WireWriter()
        let set = try WireValue(json: #"{"set":{"key":"a","value":1}}"#).wireBytes()
        for (kind, number, body) in [
            (FrameKind.hello, Hello.magic, Hello(program: "helped").wireBytes()),
            (.open, 1, Open(path: "/settings").wireBytes()), (.dispatch, 1, set),
        ] {
            let start = writer.beginFrame(kind, number: number)
            writer.raw(body)
            writer.endFrame(at: start)
        }
        return Data(writer.bytes)
    }

    @Test("X110: the rights are those of the user that connected, also if another user writes")
    func setuidHelper() async throws {
        let daemon = try await start()
        let directory = daemon.directory
        let (helper, file) = (directory.path("helper"), directory.path("requests"))
        // A program that runs as root for every user: only root can read the requests.
        try FileManager.default.copyItem(atPath: "/bin/cat", toPath: helper)
        #expect(unsafe chown(helper, 0, 0) == 0 && chmod(helper, 0o4755) == 0)
        try Self.requests().write(to: URL(filePath: file))
        #expect(unsafe chmod(file, 0o600) == 0)
        func run(uid: Int, then other: String...) async throws -> ChildProcess {
            let program = ["/usr/bin/env", "python3", "-c", Self.helped]
            let process = try ChildProcess(
                as: uid, program + [daemon.socketPath, helper, file] + other, in: directory)
            #expect(await process.ended() == .exited(0), "\(process.errors)")
            return process
        }
        let attacker = try await run(uid: 1_001)
        #expect(attacker.output.count > 40)
        let reactorctl = Reactorctl(daemon: daemon)
        #expect(try await reactorctl("get", "/settings/entries/a").code == 66)
        // The same bytes, of root's connection, which another user then writes to.
        _ = try await run(uid: 0, then: "1001")
        #expect(try await reactorctl("get", "/settings/entries/a").output == "1\n")
    }

    @Test("X109: the socket has its mode and its group")
    func file() async throws {
        let daemon = try await DaemonProcess.start(
            config: "socket: { mode: \"0660\", group: daemon }\n" + DaemonProcess.example)
        let attributes = try FileManager.default.attributesOfItem(atPath: daemon.socketPath)
        #expect(attributes[.posixPermissions] as? Int == 0o660)
        #expect(attributes[.groupOwnerAccountName] as? String == "daemon")
    }
}
