import DeployExample
import ReactorCore
import ReactorTesting
import Testing

@Suite("Projects and their runs")
struct ProjectTests {
    @Test("a project numbers its runs, and removes the oldest ended one beyond its limit")
    func runs() throws {
        let bench = DeployBench()
        try bench.add("web", runs: Project.runsMax)
        try bench.apply(Run.Action.cancel, to: "/projects/web/runs/3")
        try bench.build("web")
        let numbers = try bench.project("web").numbers
        #expect(numbers == (1...Project.runsMax + 1).filter { $0 != 3 })
        #expect(bench.daemon.state(of: Run.self, at: "/projects/web/runs/3") == nil)
        try bench.build("web")
        #expect(try bench.project("web").numbers.count == Project.runsMax + 1, "none has ended")
    }

    @Test("the settings are changed, undone and redone, and what they plan follows")
    func settings() throws {
        let bench = DeployBench()
        try bench.add("web") { $0.nightly = TimeOfDay(hour: 1, minute: 0) }
        try bench.apply(Project.Action.undo, to: "/projects/web")
        #expect(try bench.project("web").settings.value == ProjectSettings())
        bench.daemon.advance(by: .seconds(86_400))
        #expect(try bench.project("web").lastNumber == 0)
        try bench.apply(Project.Action.redo, to: "/projects/web")
        let code = try bench.refusal(of: Project.Action.redo, to: "/projects/web").code
        #expect(code == "nothing_to_redo")
        bench.daemon.advance(by: .seconds(86_400))
        #expect(try bench.project("web").lastNumber == 1)
        var settings = ProjectSettings()
        settings.script = " "
        let blank = try bench.refusal(of: Project.Action.configure(settings), to: "/projects/web")
        #expect(blank.code == "bad_script")
    }

    @Test("a pause changes no other setting, and is taken back like each change")
    func pause() throws {
        let bench = DeployBench()
        try bench.add("web") { $0.script = "make" }
        try bench.apply(Project.Action.pause, to: "/projects/web")
        var settings = try bench.project("web").settings.value
        #expect(settings.isPaused && settings.script == "make")
        let refusal = try bench.refusal(of: Project.Action.build(), to: "/projects/web")
        #expect(refusal.message == "web is paused: continue it with deploy set web --no-paused")
        try bench.apply(Project.Action.undo, to: "/projects/web")
        settings = try bench.project("web").settings.value
        #expect(!settings.isPaused && settings.script == "make")
    }

    @Test("a user takes back the own last change, and not the one of another user")
    func own() {
        let store = TestStore(Project(name: "web"))
        let ann = Caller(connection: 1, client: 1, uid: 1_001, gid: 1, pid: 1)
        let bob = Caller(connection: 2, client: 2, uid: 1_002, gid: 1, pid: 2)
        let time = WallTime(milliseconds: 0)
        store.sendRejected(.undoOwn, "nothing_to_undo", by: bob)
        store.send(.pause, by: ann) { project in
            var settings = ProjectSettings()
            settings.isPaused = true
            settings.author = 1_001
            project.settings.set(settings, by: Origin(client: 1, ordinal: 2))
            project.lastChange = SettingsChange(uid: 1_001, at: time)
        }
        store.sendRejected(.undoOwn, "changed_since", by: bob)
        store.send(.undoOwn, by: ann) { $0.settings.undo() }
        store.send(.redo, by: bob) { project in
            project.settings.redo()
            project.lastChange = SettingsChange(uid: 1_002, at: time)
        }
        // The settings are those of ann, whoever returned to them.
        store.sendRejected(.undoOwn, "changed_since", by: bob)
        store.send(.undoOwn, by: ann) { project in
            project.settings.undo()
            project.lastChange = SettingsChange(uid: 1_001, at: time)
        }
        store.finish()
    }

    @Test("a nightly run is queued at its time every day, also if the daemon restarts in between")
    func nightly() throws {
        let bench = DeployBench()
        bench.daemon.advance(by: .seconds(3_600))
        try bench.add("web") { $0.nightly = TimeOfDay(hour: 1, minute: 30) }
        bench.daemon.advance(by: .seconds(1_799))
        #expect(try bench.project("web").lastNumber == 0)
        try bench.daemon.restart()
        bench.daemon.advance(by: .seconds(1))
        #expect(try bench.project("web").lines[1]?.because == "nightly")
        bench.daemon.advance(by: .seconds(86_399))
        #expect(try bench.project("web").lastNumber == 1)
        bench.daemon.advance(by: .seconds(1))
        #expect(try bench.project("web").lastNumber == 2)
    }

    @Test("a built run is deployed; a deployment that fails fails the run")
    func deployment() throws {
        let sink = AnnouncementSink()
        let bench = DeployBench(hooks: sink.hooks)
        try bench.add("web", runs: 1) { $0.deployScript = "ship" }
        let ann = bench.worker("ann")
        try ann.ask()
        try ann.finish()
        #expect(sink.deployments.map(\.script) == ["ship"] && sink.deployments[0].run == .web(1))
        #expect(try bench.run(.web(1)).phase == .succeeded)
        #expect(try bench.run(.web(1)).log == ["deployed"])

        let broken = DeployBench(hooks: AnnouncementSink(failures: 1).hooks)
        try broken.add("web", runs: 1) { $0.deployScript = "ship" }
        let bob = broken.worker("bob")
        try bob.ask()
        try bob.finish()
        #expect(try broken.run(.web(1)).phase == .failed)
        #expect(try broken.run(.web(1)).log == ["deployment: out of order"])
        #expect(try broken.queue.running == [])
    }

    @Test("only the worker of a run reports to it; its script may fail")
    func reports() throws {
        let bench = DeployBench()
        try bench.add("web", runs: 1)
        let path = "/projects/web/runs/1"
        #expect(try bench.refusal(of: Run.Action.log("x"), to: path).code == "not_yours")
        let ann = bench.worker("ann")
        try ann.ask()
        let finish = Run.Action.finish(exitCode: 0)
        #expect(try bench.refusal(of: finish, to: path).code == "not_yours")
        try ann.finish(exitCode: 3)
        #expect(try bench.run(.web(1)).phase == .failed)
        #expect(try bench.run(.web(1)).log == ["the script ended with exit code 3"])
        #expect(try bench.refusal(of: Run.Action.cancel, to: path).code == "failed")
    }
}
