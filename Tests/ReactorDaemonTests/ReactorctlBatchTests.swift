import Foundation
import TestPrograms
import Testing

/// `reactorctl batch` against a real daemon.
@Suite("Batches of reactorctl", .timeLimit(.minutes(10)))
struct ReactorctlBatchTests {
    private func start(_ config: String? = DaemonProcess.example) async throws -> Reactorctl {
        Reactorctl(daemon: try await DaemonProcess.start(config: config))
    }

    private static let good = """
        # two reactors
        /visits {"increment":{"by":5}}

          /settings\t{"set":{"key":"theme","value":"dark"}}
        /visits   {"increment":{"by":2}}
        """

    @Test("each line is an action of its own, with a line of output, and a summary follows")
    func each() async throws {
        let reactorctl = try await start()
        let run = try await reactorctl("batch", "-", input: Self.good)
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.count == 4)
        #expect(
            run.lines[0].hasPrefix(#"{"line":2,"path":"/visits","outcome":"applied","revision":"#))
        #expect(run.lines[1].hasPrefix(#"{"line":4,"path":"/settings","outcome":"applied""#))
        #expect(run.lines[2].hasPrefix(#"{"line":5,"path":"/visits","#))
        #expect(run.lines[2].hasSuffix(":3\"}"))
        #expect(run.lines[3].hasPrefix(#"{"applied":3,"rejected":0,"failed":0,"unknown":0,"#))
        #expect(try await reactorctl("get", "/visits/count").output == "7\n")
        #expect(try await reactorctl("get", "/settings/entries/theme").output == "\"dark\"\n")
    }

    @Test("with --atomic, all lines have one revision; a file is read like standard input")
    func atomic() async throws {
        let reactorctl = try await start()
        let file = try reactorctl.daemon.directory.write(Self.good, to: "actions")
        for wait in ["applied", "done"] {
            let run = try await reactorctl("batch", file, "--atomic", "--wait", wait)
            #expect(run.code == 0, "\(run.errors)")
            #expect(run.lines.count == 1 && run.output.hasSuffix("\"count\":3}\n"))
        }
        let last = try await reactorctl("dispatch", "/visits", #"{"increment":{}}"#)
        #expect(last.output.hasSuffix(":3\"}\n"))
        #expect(try await reactorctl("get", "/visits/count").output == "15\n")
        #expect(try await reactorctl("batch", "/nowhere/at/all").code == 74)
    }

    @Test("a refusal in the middle names line, path and code; with --atomic nothing is applied")
    func refusal() async throws {
        let reactorctl = try await start()
        let lines = """
            /visits {"increment":{"by":5}}
            /team/lock {"release":{"token":7}}
            /visits {"increment":{"by":1}}
            """
        let whole = try await reactorctl("batch", "--atomic", "-", input: lines)
        #expect(whole.code == 1)
        #expect(
            whole.output.hasPrefix(#"{"outcome":"rejected","line":2,"path":"/team/lock","code":"#))
        #expect(whole.errors.contains("line 2, /team/lock: rejected"), "\(whole.errors)")
        #expect(try await reactorctl("get", "/visits/count").output == "0\n")
        let each = try await reactorctl("batch", "-", input: lines)
        #expect(each.code == 1)
        #expect(each.lines[1].hasPrefix(#"{"line":2,"path":"/team/lock","outcome":"rejected""#))
        #expect(each.lines[3].hasPrefix(#"{"applied":2,"rejected":1,"#))
        #expect(try await reactorctl("get", "/visits/count").output == "6\n")
    }

    @Test(
        "an invalid line is refused by number and column before anything is sent",
        arguments: [
            (#"/visit {"increment":{}}"#, 66, "line 2, column 1: ", "/visits"),
            (#"  /visits {"incremen":{}}"#, 65, "line 2, column 11: ", "increment"),
            (#"/visits {"increment":{"by":}}"#, 65, "line 2, column 28: ", "not JSON"),
            ("/visits", 65, "line 2, column 8: ", "expected an action as JSON"),
            (#"visits {"increment":{}}"#, 66, "line 2, column 1: ", "expected a path first"),
            (#"/visits/count {"increment":{}}"#, 66, "line 2, column 1: ", "name the reactor"),
        ])
    func invalid(line: String, code: Int32, place: String, hint: String) async throws {
        let reactorctl = try await start()
        for option in ["--atomic", "--wait=applied"] {
            let run = try await reactorctl(
                "batch", option, "-", input: "/visits {\"increment\":{}}\n\(line)\n")
            #expect(run.code == code, "\(run.errors)")
            #expect(run.errors.contains(place) && run.errors.contains(hint), "\(run.errors)")
            #expect(run.output == "")
        }
        #expect(try await reactorctl("get", "/visits/count").output == "0\n")
    }

    @Test("an internal action is refused as the daemon's own, also in a batch")
    func internalAction() async throws {
        let directory = TestDirectory()
        let reactorctl = Reactorctl(
            daemon: try await DaemonProcess.start(
                "fickle-daemon",
                config: "data:\n  directory: \(directory.path("data"))\n", in: directory))
        for option in ["--atomic", "--wait=applied"] {
            let run = try await reactorctl("batch", option, "-", input: "/ {\"forget\":{}}\n")
            #expect(run.code == 77)
            let refusal = "line 1, column 3: /: only the daemon sends \"forget\""
            #expect(run.errors.contains(refusal), "\(run.errors)")
        }
    }

    @Test("an empty file sends nothing and succeeds")
    func empty() async throws {
        let reactorctl = try await start()
        for input in ["", "\n# nothing\n\n"] {
            let each = try await reactorctl("batch", "-", input: input)
            #expect(each.code == 0)
            #expect(each.output.hasPrefix(#"{"applied":0,"#))
            let whole = try await reactorctl("batch", "-", "--atomic", input: input)
            #expect(whole.code == 0)
            #expect(whole.output == "{\"outcome\":\"applied\",\"count\":0}\n")
        }
    }

    @Test("10,000 lines are applied in order; as one transaction they exceed the daemon's limit")
    func many() async throws {
        let reactorctl = try await start()
        let lines = (1...10_000).map { index in
            index % 2 == 0
                ? "/visits {\"increment\":{}}\n"
                : "/settings {\"set\":{\"key\":\"k\",\"value\":\(index)}}\n"
        }.joined()
        let whole = try await reactorctl("batch", "-", "--atomic", input: lines)
        #expect(whole.code == 65)
        #expect(whole.errors.contains("at most batchActionsMax 1024"), "\(whole.errors)")
        let run = try await reactorctl("batch", "-", input: lines)
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.count == 10_001)
        #expect(run.lines[9_999].hasPrefix(#"{"line":10000,"path":"/visits","#))
        #expect(try await reactorctl("get", "/visits/count").output == "5000\n")
        #expect(try await reactorctl("get", "/settings/entries/k").output == "9999\n")
    }

    @Test("a transaction of more bytes than a frame takes is refused with the limit's name")
    func large() async throws {
        let reactorctl = try await start()
        let text = String(repeating: "x", count: 250_000)
        let line = "/settings {\"set\":{\"key\":\"k\",\"value\":\"\(text)\"}}\n"
        let run = try await reactorctl(
            "batch", "-", "--atomic", input: String(repeating: line, count: 5))
        #expect(run.code == 65)
        #expect(run.errors.contains("at most frameBytesMax 1048576"), "\(run.errors)")
        #expect(
            try await reactorctl("batch", "-", input: String(repeating: line, count: 5)).code == 0)
    }

    @Test("--if-revision is a condition on the whole daemon, and needs --atomic")
    func condition() async throws {
        let reactorctl = try await start()
        let first = try await reactorctl("dispatch", "/visits", #"{"increment":{}}"#)
        let revision = String(first.output.split(separator: "\"")[7])
        #expect(
            try await reactorctl("batch", "-", "--if-revision", revision, input: Self.good).code
                == 2)
        let current = try await reactorctl(
            "batch", "-", "--atomic", "--if-revision", revision, input: Self.good)
        #expect(current.code == 0)
        let stale = try await reactorctl(
            "batch", "-", "--atomic", "--if-revision", revision, input: Self.good)
        #expect(stale.code == 1)
        #expect(stale.output.contains(#""code":"CONFLICT""#), "\(stale.output)")
        #expect(try await reactorctl("get", "/visits/count").output == "8\n")
    }

    @Test("Ctrl-C prints what was sent and applied, then ends the command")
    func interrupted() async throws {
        // The quota leaves outcomes missing at the signal, whatever the machine's speed.
        let reactorctl = try await start(
            DaemonProcess.example + "\nquotas: [{to: anyone, actions: 100/s}]\n")
        let lines = String(repeating: "/visits {\"increment\":{}}\n", count: 200_000)
        let batch = try reactorctl.start(["batch", "-"], input: lines, name: "batch")
        #expect(await holds { batch.output.contains("\n") })
        batch.signal(SIGINT)
        #expect(await batch.ended() == .killed(signal: SIGINT))
        #expect(batch.errors.contains("stopped by"), "\(batch.errors)")
        #expect(batch.output.split(separator: "\n").last?.hasPrefix(#"{"applied":"#) ?? false)
    }
}
