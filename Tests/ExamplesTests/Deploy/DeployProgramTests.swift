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
        await deploy.daemon.kill9()

        let again = try await start(in: directory)
        _ = try directory.write("", to: "gate")
        let show = try await again("show", "web", "1")
        #expect(show.lines.last?.contains("succeeded") == true, "\(show.output)\(show.errors)")
        #expect(await dashboard.says("  1 succeeded\n"))
        #expect(ann.isRunning && bob.isRunning, "\(ann.errors)\(bob.errors)")
        let settings = try await Reactorctl(daemon: again.daemon)(
            "get", "/projects/web/settings/value/nightly")
        #expect(settings.output == "{\"minute\":150}\n")
    }

    @Test("all of several changes are made, or none")
    func together() async throws {
        let deploy = try await start(in: TestDirectory())
        for name in ["api", "web"] { try await succeed(deploy("add", name)) }
        try await succeed(deploy("freeze", "api", "web"))
        let refused = try await deploy("release", "api", "web")
        #expect(refused.code != 0 && refused.errors.contains("/projects/api: api is paused"))
        #expect(try await deploy("undo", "web").code == 0)
        #expect(try await deploy("undo", "web").errors.contains("no change is left to undo"))
        #expect(try await deploy("build", "web").output == "1\n")
        #expect(try await deploy("freeze", "web", "ios").code != 0)
        #expect(
            try await deploy("build", "web").output == "2\n", "a batch with an error is not sent")
        #expect(try await deploy("show", "web", "7").errors.contains("web has no run 7"))
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
        #expect(forbidden.code != 0 && forbidden.errors.contains("expire"))
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
