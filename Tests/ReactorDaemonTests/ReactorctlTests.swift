import Foundation
import TestPrograms
import Testing

/// Drives ``StandardStream``.
@Suite("reactorctl against a real daemon", .timeLimit(.minutes(10)))
struct ReactorctlTests {
    @Test("an applied action is printed with its revision, and the state shows it")
    func dispatch() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let run = try await reactorctl("dispatch", "/visits", #"{"increment":{"by":5}}"#)
        #expect(run.code == 0)
        #expect(run.output.hasPrefix(#"{"outcome":"applied","revision":""#))
        #expect(run.output.hasSuffix(":1\"}\n"))
        #expect(try await reactorctl("get", "/visits").output == "{\"count\":5}\n")
        #expect(try await reactorctl("get", "/visits/count").output == "5\n")
    }

    @Test("two terminals share the state live, and each sees the last value")
    func watch() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let one = try reactorctl.start(["watch", "/visits", "--count", "2"], name: "one")
        let two = try reactorctl.start(["watch", "/visits", "--count", "2"], name: "two")
        #expect(await holds { one.output.contains("\n") && two.output.contains("\n") })
        _ = try await reactorctl("dispatch", "/visits", #"{"increment":{"by":7}}"#)
        #expect(await one.ended() == .exited(0))
        #expect(await two.ended() == .exited(0))
        #expect(one.output == two.output)
        #expect(one.output.contains(#""state":{"count":0}"#))
        #expect(one.output.contains(#""state":{"count":7}"#))
    }

    @Test("a stopped watcher delays no other client, and catches up when it continues")
    func stoppedWatcher() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let watcher = try reactorctl.start(["watch", "/visits"], name: "watcher")
        #expect(await holds { watcher.output.contains("\n") })
        watcher.signal(SIGSTOP)
        let actions = String(repeating: "{\"increment\":{}}\n", count: 20_000)
        let run = try await reactorctl("dispatch", "/visits", "-", input: actions)
        #expect(run.output.contains(#""applied":20000"#))
        watcher.signal(SIGCONT)
        #expect(await holds { watcher.output.contains(#"{"count":20000}"#) })
        watcher.signal(SIGKILL)
    }

    @Test(
        "an action that the reactor cannot decode is refused before it is sent",
        arguments: [
            (#"{"incremen":{"by":5}}"#, "increment"), (#"{"increment":{"bye":5}}"#, "by"),
            (#"{"increment":{"by":"five"}}"#, "integer"), (#"{"increment":"#, "JSON"),
        ])
    func badAction(action: String, hint: String) async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let run = try await reactorctl("dispatch", "/visits", action)
        #expect(run.code == 65)
        #expect(run.errors.contains(hint))
        #expect(run.output == "")
        #expect(try await reactorctl("get", "/visits/count").output == "0\n")
    }

    @Test("F47: dispatch waits until an action is applied, or until its effects have ended")
    func waits() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let add = #"{"increment":{"by":5}}"#
        for what in ["applied", "done"] {
            let run = try await reactorctl("dispatch", "--wait", what, "/visits", add)
            #expect(run.code == 0 && run.output.contains(#""outcome":"applied""#))
        }
        let many = try await reactorctl(
            "dispatch", "--wait", "done", "/visits", "-", input: add + "\n" + add + "\n")
        #expect(many.output.contains(#""applied":2"#))
        let rejected = try await reactorctl(
            "dispatch", "--wait", "done", "/team/lock", #"{"release":{"token":7}}"#)
        #expect(rejected.code == 1 && rejected.output.contains(#""outcome":"rejected""#))
        #expect(try await reactorctl("dispatch", "--wait", "long", "/visits", add).code == 2)
        #expect(try await reactorctl("get", "/visits/count").output == "20\n")
    }

    @Test("an unknown path ends with 66 and names the nearest")
    func badPath() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        for command in ["get", "watch", "describe"] {
            let run = try await reactorctl(command, "/vists")
            #expect(run.code == 66)
            #expect(run.errors.contains("did you mean /visits?"))
        }
        #expect(try await reactorctl("get", "/settings/entries/theme").code == 66)
    }

    @Test("without a daemon, reactorctl ends with 69 and names the tried sockets")
    func unreachable() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        await reactorctl.daemon.stop()
        let run = try await reactorctl("get", "/visits")
        #expect(run.code == 69)
        #expect(run.errors.contains(reactorctl.daemon.socketPath))
    }

    @Test("wrong usage ends with 2", arguments: [["dispatch"], ["fly"], ["wait", "/visits"]])
    func usage(arguments: [String]) async throws {
        let directory = TestDirectory()
        let process = try ChildProcess(
            Built.product("reactorctl"), arguments, in: directory, name: "ctl")
        #expect(await process.ended() == .exited(2))
        #expect(process.errors != "")
    }

    @Test("a rejection is printed and ends with 1; the lock is released when the command ends")
    func hold() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let inner = "\(Built.product("reactorctl")) --socket \(reactorctl.daemon.socketPath)"
        let held = try await reactorctl(
            "hold", "/team/lock", #"{"acquire":{}}"#, "--", "sh", "-c",
            "\(inner) dispatch /team/lock '{\"acquire\":{}}'; echo code $?; exit 7")
        #expect(held.code == 7)
        #expect(held.output.contains(#""outcome":"rejected","code":"held""#))
        #expect(held.output.contains("code 1"))
        #expect(try await reactorctl("get", "/team/lock/holder").output == "null\n")
    }

    private static let jobs = "reactors:\n  jobs:\n    kind: queue\n"
    private static let claim = #"{"claim":{}}"#
    private static let finish = #"{"finish":{"id":"{{id}}"}}"#
    private static let fail = #"{"fail":{"id":"{{id}}"}}"#

    /// A daemon with a queue of one job, `{"name":"a"}`.
    private func oneJob() async throws -> Reactorctl {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start(config: Self.jobs))
        _ = try await reactorctl("dispatch", "/jobs", #"{"push":{"job":{"name":"a"}}}"#)
        return reactorctl
    }

    @Test("hold runs a command given by its path")
    func holdPath() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let held = try await reactorctl(
            "hold", "/team/lock", #"{"acquire":{}}"#, "--", "/bin/echo", "a  b")
        #expect(held.code == 0)
        #expect(held.output == "a  b\n")
    }

    @Test(
        "a command that holds a job receives the reply, and an unfinished job returns to the queue")
    func holdJob() async throws {
        let reactorctl = try await oneJob()
        let run = try await reactorctl(
            "hold", "/jobs", Self.claim, "--", "sh", "-c", "echo $REACTORCTL_REPLY")
        #expect(run.code == 0)
        #expect(run.output == "{\"id\":1,\"job\":{\"name\":\"a\"}}\n")
        let waiting = try await reactorctl("get", "/jobs/waiting")
        #expect(waiting.output.contains(#""id":1"#) && waiting.output.contains(#""failures":0"#))
    }

    @Test("a held job is finished if the command succeeds, and failed if it does not")
    func holdJobToItsEnd() async throws {
        let reactorctl = try await oneJob()
        let ends = ["--on-success", Self.finish, "--on-failure", Self.fail, "--"]
        func hold(_ command: String...) async throws -> Int32 {
            let process = try reactorctl.start(
                ["hold", "/jobs", Self.claim] + ends + command, name: "hold-\(command.joined())")
            guard case .exited(let code) = await process.ended() else { return -1 }
            return code
        }
        #expect(try await hold("false") == 1)
        let waiting = try await reactorctl("get", "/jobs/waiting")
        #expect(waiting.output.contains(#""failures":1"#))
        #expect(try await hold("sh", "-c", "kill -9 $$") == 137)
        #expect(try await reactorctl("get", "/jobs/waiting/0/failures").output == "2\n")
        #expect(try await hold("true") == 0)
        #expect(try await reactorctl("get", "/jobs/waiting").output == "[]\n")
        #expect(try await reactorctl("get", "/jobs/claimed").output == "{}\n")
        #expect(try await reactorctl("get", "/jobs/failed").output == "[]\n")
    }

    @Test(
        "an invalid --on-success or --on-failure is reported before the command runs",
        arguments: [
            (#"{"finish":{"id":"{{number}}"}}"#, "{{number}}", 65),
            (#"{"finish":{"id":"{{job/name}}"}}"#, "integer", 65),
            (#"{"end":{"id":"{{id}}"}}"#, "end", 65), (#"{"finish":"#, "JSON", 2),
        ] as [(String, String, Int32)])
    func holdBadEnd(end: String, hint: String, code: Int32) async throws {
        let reactorctl = try await oneJob()
        let run = try await reactorctl(
            "hold", "/jobs", Self.claim, "--on-success", end, "--", "echo", "ran")
        #expect(run.code == code)
        #expect(run.output == "")
        #expect(run.errors.contains(hint) && run.errors.contains("--on-success"))
        #expect(try await reactorctl("get", "/jobs/waiting/0/id").output == "1\n")
    }

    @Test(
        "a rejected --on-success is the result, a rejected --on-failure is not")
    func holdRejectedEnd() async throws {
        let reactorctl = try await oneJob()
        let wrong = #"{"finish":{"id":7}}"#
        let good = try await reactorctl(
            "hold", "/jobs", Self.claim, "--on-success", wrong, "--", "true")
        #expect(good.code == 1 && good.errors.contains("--on-success: rejected"))
        let bad = try await reactorctl(
            "hold", "/jobs", Self.claim, "--on-failure", wrong, "--", "sh", "-c", "exit 9")
        #expect(bad.code == 9 && bad.errors.contains("--on-failure: rejected"))
    }

    @Test("wait ends when the value is reached, or with 124 after the timeout")
    func wait() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let waiter = try reactorctl.start(
            ["wait", "/visits", "--equals", #"{"count":3}"#], name: "waiter")
        _ = try await reactorctl("dispatch", "/visits", #"{"increment":{"by":3}}"#)
        #expect(await waiter.ended() == .exited(0))
        let late = try await reactorctl(
            "wait", "/visits", "--equals", #"{"count":9}"#, "--timeout", "10ms")
        #expect(late.code == 124)
        let below = try await reactorctl(
            "wait", "/visits/count", "--equals", "-77", "--timeout", "10ms")
        #expect(below.code == 124, "a negative number is no option")
    }

    @Test("actions from standard input are applied in order, one outcome each")
    func stream() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let actions = (1...500).map { "{\"increment\":{\"by\":\($0)}}\n" }.joined()
        let run = try await reactorctl("dispatch", "/visits", "-", "--each", input: actions)
        #expect(run.code == 0)
        #expect(run.lines.count == 500)
        #expect(run.lines.last?.hasSuffix(":500\"}") ?? false)
        #expect(try await reactorctl("get", "/visits/count").output == "125250\n")
        let bad = try await reactorctl(
            "dispatch", "/visits", "-", input: "{\"reset\":{}}\n{\"rest\":{}}\n")
        #expect(bad.code == 65)
        #expect(bad.errors.contains("line 2"))
        #expect(bad.output.contains(#""applied":1"#))
    }

    @Test("a stale revision is a conflict, and nothing is applied")
    func conflict() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let first = try await reactorctl("dispatch", "/visits", #"{"increment":{}}"#)
        let revision = String(first.output.split(separator: "\"")[7])
        _ = try await reactorctl("dispatch", "/visits", #"{"increment":{}}"#)
        let stale = try await reactorctl(
            "dispatch", "/visits", #"{"reset":{}}"#, "--if-revision", revision)
        #expect(stale.code == 1)
        #expect(stale.output.contains(#""code":"CONFLICT""#))
        #expect(try await reactorctl("get", "/visits/count").output == "2\n")
    }

    @Test("tree, describe, stats, limits and ping answer in JSON lines when piped")
    func questions() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let tree = try await reactorctl("tree")
        #expect(tree.lines.contains { $0.contains(#""path":"/team/lock""#) })
        #expect(try await reactorctl("describe", "/visits").output.contains("increment"))
        #expect(try await reactorctl("describe", "--limits").output.contains("frameBytesMax"))
        #expect(try await reactorctl("stats").output.contains("connectionsAccepted"))
        #expect(try await reactorctl("ping").output.contains("microseconds"))
    }
}
