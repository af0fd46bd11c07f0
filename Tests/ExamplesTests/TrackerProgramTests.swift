import TestPrograms
import Testing

@Suite("tracker and tracker-daemon as processes", .timeLimit(.minutes(10)))
struct TrackerProgramTests {
    @Test("an issue is opened, commented, watched by another client, and closed")
    func life() async throws {
        let tracker = try await tracker()
        #expect(try await tracker("open", "Login is slow").output == "1\n")
        #expect(try await tracker("open", "Logout hangs").output == "2\n")
        let watch = try tracker.start(["watch", "1"], name: "watch")
        #expect(await watch.says("Login is slow (open)"))

        #expect(try await tracker("comment", "1", "here too").code == 0)
        #expect(await watch.says("  here too\n"))
        #expect(try await tracker("close", "1").code == 0)
        #expect(await watch.ended() == .exited(0))
        #expect(watch.output.contains("Login is slow (closed)"))

        #expect(try await tracker("list").lines == ["2 open Logout hangs"])
        let all = try await tracker("list", "--all")
        #expect(all.lines == ["1 closed Login is slow", "2 open Logout hangs"])
    }

    @Test(
        "F77: a search shows its progress, and finds the open issues with the text in their titles"
    )
    func search() async throws {
        let tracker = try await tracker()
        for title in ["Login is slow", "A crash", "After login: nothing"] {
            _ = try await tracker("open", title)
        }
        func found(_ text: String) async throws -> [String] {
            // A slow client may miss the intermediate state.
            try await tracker("search", text).lines.filter { $0 != "looking for \(text) …" }
        }
        #expect(try await found("login") == ["1 Login is slow", "3 After login: nothing"])
        #expect(try await found("logout") == ["nothing has logout in its title"])
    }

    @Test("a reminder reaches a watching client after its delay")
    func remind() async throws {
        let tracker = try await tracker()
        _ = try await tracker("open", "Login is slow")
        let watch = try tracker.start(["watch", "1"], name: "watch")
        #expect(try await tracker("remind", "1", "10ms", "ask Ada").code == 0)
        #expect(await watch.says("reminder: ask Ada"))
        let never = try await tracker("remind", "1", "soon", "ask Ada")
        #expect(never.code == 64)
        #expect(never.errors.contains("such as 5s"))
    }

    @Test("a request that the tracker refuses fails with one line")
    func refusals() async throws {
        let tracker = try await tracker()
        #expect(try await tracker("close", "7").errors.contains("no issue has the number 7"))
        _ = try await tracker("open", "A crash")
        _ = try await tracker("close", "1")
        let again = try await tracker("close", "1")
        #expect(again.code != 0)
        #expect(again.errors.contains("the issue is closed already"))
    }

    @Test("F28: a tap in the running daemon logs new issues")
    func log() async throws {
        let tracker = try await tracker()
        _ = try await tracker("open", "Login is slow")
        let daemon = tracker.daemon
        #expect(await daemon.stop() == .exited(0))
        #expect(daemon.log.contains("opened 1: Login is slow\n"))
    }

    @Test("reactorctl works with the tracker's reactors as with the ready-made ones")
    func reactorctl() async throws {
        let reactorctl = ClientProgram(daemon: try await tracker().daemon)
        let opened = try await reactorctl("dispatch", "/", #"{"open":{"title":"A crash"}}"#)
        #expect(opened.output.contains(#""reply":{"number":1}"#))
        let watch = try reactorctl.start(
            ["watch", "/issues/1/comments", "--count", "2"], name: "watch")
        #expect(await watch.says("[]"))
        let comment = try await reactorctl("dispatch", "/issues/1", #"{"comment":"here too"}"#)
        #expect(comment.code == 0)
        #expect(await watch.ended() == .exited(0))
        #expect(watch.output.contains(#"["here too"]"#))
        #expect(try await reactorctl("describe", "/issues/1").output.contains("remind"))
        #expect(try await reactorctl("get", "/lines/1/title").output == "\"A crash\"\n")
    }

    @Test("reactorctl shows the issues that the daemon selects, in order, and their changes")
    func selections() async throws {
        let tracker = try await tracker()
        for title in ["B is slow", "A crashes", "C hangs"] { _ = try await tracker("open", title) }
        let reactorctl = ClientProgram(daemon: tracker.daemon)
        func keys(_ options: String...) async throws -> [String] {
            let process = try reactorctl.start(
                ["get", "/issues"] + options, name: "get-\(options.joined())")
            #expect(await process.ended() == .exited(0), "\(process.errors)")
            return process.output.matches(of: #/"key":"(\d+)"/#).map { String($0.1) }
        }
        #expect(try await keys("--order", "title") == ["2", "1", "3"])
        #expect(try await keys("--order", "-title", "--first", "2") == ["3", "1"])
        #expect(try await keys("--order", "-@key", "--keys", "2..") == ["3", "2"])
        let isOpen = ["--where", "isOpen == true", "--order", "title"]
        let lists = try reactorctl.start(
            ["watch", "/issues", "--count", "2", "--first", "2"] + isOpen, name: "lists")
        let changes = try reactorctl.start(
            ["watch", "/issues", "--count", "2", "--changes"] + isOpen, name: "changes")
        #expect(await lists.says("B is slow"))
        #expect(await changes.says("C hangs"))
        #expect(try await tracker("close", "2").code == 0)
        #expect(await lists.ended() == .exited(0))
        #expect(await changes.ended() == .exited(0))
        let last = lists.output.split(separator: "\n").last ?? ""
        #expect(last.matches(of: #/"key":"(\d+)"/#).map { String($0.1) } == ["1", "3"])
        let change = changes.output.split(separator: "\n").last ?? ""
        #expect(change.contains(#""state":{"order":["1","3"],"children":{"2":null}}"#))
        let filtered = try await reactorctl("get", "/issues", "--where", "not isOpen == true")
        #expect(filtered.output.hasPrefix(#"{"2":{"#) && !filtered.output.contains("hangs"))
    }

    @Test("a fault in a selection is reported with its column, an unknown field with the nearest")
    func selectionFaults() async throws {
        let reactorctl = ClientProgram(daemon: try await tracker().daemon)
        for (option, text, code, hint) in [
            ("--where", "isOpen = true", 2, "--where: column 8: expected one of =="),
            ("--where", "isOpn == true", 66, "did you mean isOpen?"),
            ("--where", "title > 3", 2, "compared with text or null"),
            ("--order", "titel", 66, "did you mean title?"), ("--order", "title,", 2, "column 7"),
            ("--first", "0", 2, "expected 1 or more"), ("--keys", "7", 2, "two dots"),
        ] as [(String, String, Int32, String)] {
            for command in ["get", "watch"] {
                let run = try await reactorctl(command, "/issues", option, text)
                #expect(run.code == code && run.output.isEmpty, "\(command) \(option) \(text)")
                #expect(run.errors.contains(hint), "\(run.errors)")
            }
        }
        let past = try await reactorctl("get", "/issues", "--first", "1", "--at", "3")
        #expect(past.code == 2 && past.errors.contains("--at"))
        let node = try await reactorctl("get", "/", "--first", "1")
        #expect(node.code == 66 && node.errors.contains("no collection"))
    }

    private func tracker() async throws -> ClientProgram {
        ClientProgram(
            "tracker", daemon: try await DaemonProcess.start("tracker-daemon", config: nil))
    }
}
