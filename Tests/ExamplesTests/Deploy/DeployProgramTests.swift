import Foundation
import TestPrograms
import Testing

@Suite("deploy and deploy-daemon as processes", .timeLimit(.minutes(10)))
struct DeployProgramTests {
    /// A script that ends once there is a file, or the test's directory is gone: a killed worker
    /// leaves its script behind.
    private static func wait(for file: String) -> String {
        "while [ ! -e \(file) -a -e $(dirname \(file)) ]; do sleep 0.01; done"
    }

    @Test("a run is built by a worker, deployed by the daemon, and announced")
    func life() async throws {
        let directory = TestDirectory()
        let deploy = try await start(
            in: directory, announce: "echo $DEPLOY_RUN $DEPLOY_PHASE >>\(directory.path("news"))")
        let worker = try deploy.start(["work", "--name", "ann"], name: "ann")
        try await succeed(deploy("add", "web"))
        try await succeed(
            deploy(
                "set", "web", "--script", "echo compiled $DEPLOY_RUN", "--deploy-script",
                "echo shipped $DEPLOY_RUN"))
        #expect(try await deploy("build", "web").output == "1\n")
        let show = try await deploy("show", "web", "1")
        #expect(show.lines.last == "succeeded: shipped web/1")
        #expect(worker.output == "performs web/1\n")
        #expect(await holds { directory.read("news") == "web/1 succeeded\n" })

        try await succeed(deploy("set", "web", "--deploy-script", "echo no disk; exit 3"))
        #expect(try await deploy("build", "web").output == "2\n")
        let failed = try await deploy("show", "web", "2").lines.last
        #expect(failed == "failed: deployment: the script ended with exit code 3: no disk")
    }

    @Test("a worker that is killed loses its run to another one, and the dashboard shows it")
    func killedWorker() async throws {
        let directory = TestDirectory()
        let deploy = try await start(in: directory)
        try await succeed(deploy("add", "web"))
        let gate = directory.path("gate")
        try await succeed(
            deploy("set", "web", "--script", Self.wait(for: gate)))
        let dashboard = try deploy.start(["dashboard", "web"], name: "dashboard")
        #expect(await dashboard.says("0 of 2 running, 0 waiting, 0 of 0 workers idle\n"))
        let ann = try deploy.start(["work", "--name", "ann"], name: "ann")
        try await succeed(deploy("build", "web"))
        #expect(await dashboard.says("  1 running by ann\n"))
        #expect(await dashboard.says("  settings changed by user \(getuid())\n"))
        let bob = try deploy.start(["work", "--name", "bob"], name: "bob")
        #expect(await dashboard.says("1 of 2 running, 0 waiting, 1 of 2 workers idle\n"))

        ann.signal(SIGKILL)
        #expect(await dashboard.says("  1 pausing\n"))
        #expect(await dashboard.says("  1 running by bob\n"))
        #expect(await bob.says("performs web/1"))
        _ = try directory.write("", to: "gate")
        #expect(await dashboard.says("  1 succeeded\n"))
        #expect(
            await dashboard.says("1 projects, 0 pausing, 1 succeeded, 0 failed, 0 cancelled\n"))
        #expect(dashboard.isRunning)
    }

    @Test("a daemon that is killed continues: runs wait again, plans are kept, workers come back")
    func killedDaemon() async throws {
        let directory = TestDirectory()
        let deploy = try await start(in: directory)
        try await succeed(deploy("add", "web"))
        let gate = directory.path("gate")
        try await succeed(
            deploy(
                "set", "web", "--nightly", "02:30", "--script",
                Self.wait(for: gate)))
        let ann = try deploy.start(["work", "--name", "ann"], name: "ann")
        let bob = try deploy.start(["work", "--name", "bob"], name: "bob")
        try await succeed(deploy("build", "web"))
        let dashboard = try deploy.start(["dashboard", "web"], name: "dashboard")
        #expect(await dashboard.says("  1 running by "))
        // A worker tries again only after it was connected once.
        #expect(await dashboard.says("1 of 2 running, 0 waiting, 1 of 2 workers idle\n"))
        await deploy.daemon.kill9()

        let again = try await start(in: directory)
        _ = try directory.write("", to: "gate")
        let show = try await again("show", "web", "1")
        #expect(show.lines.last?.contains("succeeded") == true, "\(show.output)\(show.errors)")
        #expect(await dashboard.says("  1 succeeded\n"))
        #expect(ann.isRunning && bob.isRunning, "\(ann.errors)\(bob.errors)")
        let settings = try await Reactorctl(daemon: again.daemon)(
            "get", "/projects/web/settings/value/nightly")
        #expect(settings.output == "{\"hour\":2,\"minute\":30}\n")
    }

    @Test("a deployment that is cancelled ends its script, and what that has started")
    func cancelledDeployment() async throws {
        let directory = TestDirectory()
        let deploy = try await start(in: directory)
        try await succeed(deploy("add", "web"))
        let script =
            "(echo $$; exec sleep 1000) >\(directory.path("pid")); touch \(directory.path("done"))"
        try await succeed(deploy("set", "web", "--deploy-script", script))
        try await succeed(deploy("build", "web"))
        let worker = try deploy.start(["work", "--name", "ann"], name: "ann")
        let read = { Int32(directory.read("pid").trimmingCharacters(in: .whitespacesAndNewlines)) }
        #expect(await holds { read() != nil }, "\(worker.errors)")
        let pid = try #require(read())
        try await succeed(deploy("cancel", "web", "1"))
        #expect(await holds { kill(pid, 0) != 0 })
        #expect(try await deploy("show", "web", "1").lines.last?.contains("cancelled") ?? false)
        #expect(!FileManager.default.fileExists(atPath: directory.path("done")))
    }

    @Test("without a configuration, a daemon that is killed keeps its projects")
    func defaultData() async throws {
        let directory = TestDirectory()
        let environment = ["STATE_DIRECTORY": directory.path("state")]
        func start() async throws -> DaemonProcess {
            try await DaemonProcess.start(
                "deploy-daemon", config: nil, environment: environment, in: directory)
        }
        let daemon = try await start()
        try await succeed(ClientProgram("deploy", daemon: daemon)("add", "web"))
        await daemon.kill9()
        let names = try await Reactorctl(daemon: try await start())("get", "/names")
        #expect(names.output == "[\"web\"]\n", "\(names.errors)")
    }

    @Test("deploy fire builds the project of a token, or prints the reason of the refusal")
    func trigger() async throws {
        let deploy = try await start(in: TestDirectory())
        #expect(try await deploy("trigger", "web").errors.contains("no project is called web"))
        try await succeed(deploy("add", "web"))
        let token = try await deploy("trigger", "web").lines.first ?? ""
        try await succeed(deploy("fire", token))
        #expect(try await deploy("runs", "web").output == "1 waiting\n")
        try await succeed(deploy("freeze", "web"))
        let refused = try await deploy("fire", token)
        #expect(refused.code != 0 && refused.errors.contains("web is paused"), "\(refused)")
        #expect(try await deploy("fire", "web").errors.contains("expected a token"))
        let unknown = try await deploy("fire", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")
        #expect(unknown.errors.contains("no project has the token"), "\(unknown)")
    }

    @Test("all of several changes are made, or none")
    func together() async throws {
        let deploy = try await start(in: TestDirectory())
        for name in ["api", "web"] { try await succeed(deploy("add", name)) }
        try await succeed(deploy("freeze", "api", "web"))
        let refused = try await deploy("release", "api", "web")
        #expect(refused.code != 0 && refused.errors.contains("/projects/api: api is paused"))
        #expect(try await deploy("undo", "web", "--own").code == 0)
        #expect(try await deploy("undo", "web").errors.contains("no change is left to undo"))
        #expect(try await deploy("build", "web").output == "1\n")
        #expect(try await deploy("freeze", "web", "ios").code != 0)
        #expect(
            try await deploy("build", "web").output == "2\n", "a batch with an error is not sent")
        let announce = try await deploy("announce")
        #expect(announce.errors.contains("the announcements have not stopped"))
        #expect(try await deploy("show", "web", "7").errors.contains("web has no run 7"))
    }

    @Test("runs are listed by phase and number, each change is followed, and targets are named")
    func lists() async throws {
        let deploy = try await start(in: TestDirectory())
        try await succeed(deploy("add", "web"))
        try await succeed(deploy("set", "web", "--script", "exit 3"))
        for number in 1...4 { #expect(try await deploy("build", "web").output == "\(number)\n") }
        let follow = try deploy.start(["follow", "web"], name: "follow")
        let failures = try deploy.start(
            ["follow", "web", "--phase", "failed", "--since", "2"], name: "failures")
        #expect(await follow.says("+ 1 waiting\n+ 2 waiting\n+ 3 waiting\n+ 4 waiting\n"))
        let worker = try deploy.start(["work", "--name", "ann"], name: "ann")
        #expect(await failures.says("+ 4 failed: the script ended with exit code 3\n"))
        #expect(await follow.says("  4 failed: the script ended with exit code 3\n"))
        #expect(!failures.output.contains("+ 1 "))
        try await succeed(
            deploy(
                "set", "web", "--script", "true", "--deploy-script", "echo to $DEPLOY_ENVIRONMENT",
                "--environment", "staging"))
        #expect(try await deploy("build", "web").output == "5\n")
        #expect(try await deploy("show", "web", "5").lines.last == "succeeded: to staging")
        #expect(worker.isRunning)
        let failed = "failed: the script ended with exit code 3"
        let runs = try await deploy("runs", "web", "--phase", "failed", "--since", "3")
        #expect(runs.lines == ["3 \(failed)", "4 \(failed)"], "\(runs.errors)")
        #expect(
            try await deploy("runs", "web", "--since", "5").lines == ["5 succeeded: to staging"])
        #expect(try await deploy("targets", "web").lines == ["staging web/5"])
        #expect(try await deploy("runs", "ios").errors.contains("no project is called ios"))
        #expect(try await deploy("runs", "web", "--phase", "lost").code != 0)
        // The oldest ended run makes room for the newest one.
        for number in 6...21 { #expect(try await deploy("build", "web").output == "\(number)\n") }
        #expect(await follow.says("- 1\n"))
    }

    @Test("the commands of the README run: an atomic batch, and a watch with a condition")
    func readme() async throws {
        let directory = TestDirectory()
        let deploy = try await start(in: directory)
        try await succeed(deploy("add", "web"))
        try await succeed(deploy("set", "web", "--script", "exit 3"))
        #expect(try await deploy("build", "web").output == "1\n")
        let text = try String(
            contentsOfFile: Built.root + "/Sources/Examples/Deploy/README.md", encoding: .utf8)
        let start = try #require(text.range(of: "```sh\nreactorctl"))
        let end = try #require(text.range(of: "```", range: start.upperBound..<text.endIndex))
        let script = "reactorctl" + text[start.upperBound..<end.lowerBound]
        let products = URL(filePath: Built.product("reactorctl")).deletingLastPathComponent().path
        // The last command goes on until it is stopped, so it takes the place of the shell.
        let last = try #require(script.range(of: "reactorctl", options: .backwards))
        let readme = try ChildProcess(
            "/bin/sh",
            ["-ec", script.replacingCharacters(in: last, with: "exec reactorctl")],
            environment: [
                "PATH": "\(products):/usr/bin:/bin", "REACTORD_SOCKET": deploy.daemon.socketPath,
            ], in: directory, name: "readme")
        #expect(await readme.says("{}"), "\(readme.errors)")
        let reactorctl = Reactorctl(daemon: deploy.daemon)
        #expect(try await reactorctl("get", "/settings/runsMax").output == "0\n")
        #expect(try await deploy("build", "web").errors.contains("web is paused"))
        try await succeed(deploy("limit", "1"))
        let worker = try deploy.start(["work"], name: "worker")
        #expect(await readme.says(#""phase":"failed""#), "\(readme.output)\(readme.errors)")
        #expect(readme.isRunning && worker.isRunning)
    }

    @Test("--check tells what a start would do with the data of an earlier build, and changes none")
    func check() async throws {
        func check(_ golden: String) async throws -> (ChildProcess.Ending, output: String) {
            let directory = TestDirectory()
            let data = directory.path("data")
            try DeployHistoryTests.copy(golden, to: data)
            let run = try await DaemonProcess.run(
                "deploy-daemon", config: "data:\n  directory: \(data)\n  reserveBytes: 0\n",
                arguments: ["--check"], in: directory)
            for name in ["journal.sqlite", "last-action", "released-row"] {
                #expect(
                    FileManager.default.contentsEqual(
                        atPath: "\(data)/\(name)",
                        andPath: "\(DeployHistoryTests.folder)/\(golden)/\(name)"), "\(name)")
            }
            return (run.ending, run.output)
        }
        let (fine, differences) = try await check("coordinator")
        #expect(fine == .exited(0), "\(differences)")
        #expect(differences.contains("fine: successDate is new, with a default"))
        #expect(
            differences.contains("nightly has version 1, and is converted to version 2"),
            "\(differences)")
        #expect(!differences.contains("is refused") && !differences.contains("needs a decision"))
        let (refused, reasons) = try await check("version-1")
        #expect(refused == .exited(78), "\(reasons)")
        #expect(
            reasons.contains("/projects/web1: Project state: needs a decision: script is not in"))
        #expect(reasons.contains("forbidden: timeout was an integer, and is a duration now"))
        #expect(reasons.contains("is refused: /projects/web1: the state of Project"))
    }

    @Test("reactorctl reads and changes the coordinator, and is refused internal actions")
    func reactorctl() async throws {
        let reactorctl = Reactorctl(daemon: try await start(in: TestDirectory()).daemon)
        try await succeed(reactorctl("dispatch", "/", #"{"add":{"project":"web"}}"#))
        let built = try await reactorctl("dispatch", "/projects/web", #"{"build":{}}"#)
        #expect(built.output.contains(#""reply":{"number":1}"#))
        #expect(try await reactorctl("get", "/projects/web/runs/1/phase").output == "\"waiting\"\n")
        #expect(try await reactorctl("get", "/projects/web/stats/waiting").output == "1\n")
        #expect(try await reactorctl("get", "/stats/runs/waiting").output == "1\n")
        #expect(try await reactorctl("get", "/waiting").output.contains(#""project":"web""#))
        let forbidden = try await reactorctl(
            "dispatch", "/projects/web/runs/1", #"{"expire":{}}"#)
        #expect(forbidden.code == 77)
        #expect(forbidden.errors.contains(#"only the daemon sends "expire""#))
        let describe = try await reactorctl("describe", "/projects/web/runs/1")
        #expect(describe.output.contains("cancel") && !describe.output.contains("expire"))
    }

    private func start(
        in directory: TestDirectory, announce: String? = nil
    ) async throws -> ClientProgram {
        let config = "data:\n  directory: \(directory.path("data"))\n  reserveBytes: 0\n"
        let daemon = try await DaemonProcess.start(
            "deploy-daemon", config: config,
            environment: announce.map { ["DEPLOY_ANNOUNCE": $0] } ?? [:], in: directory)
        return ClientProgram("deploy", daemon: daemon)
    }

    private func succeed(
        _ run: ClientProgram.Run, at location: SourceLocation = #_sourceLocation
    ) {
        #expect(run.code == 0, "\(run.errors)", sourceLocation: location)
    }
}
