import DeployExample
import ReactorCore
import ReactorTesting
import Testing

@Suite("The coordinator's queue")
struct CoordinatorTests {
    @Test("runs start in order, never more than the limit, and a waiting one when another ends")
    func limit() throws {
        let bench = DeployBench()
        try bench.apply(Settings.Action.runsMax(2), to: "/settings")
        try bench.add("web", runs: 4)
        #expect(try bench.queue.waiting == [.web(1), .web(2), .web(3), .web(4)])
        let workers = ["ann", "bob", "cat"].map(bench.worker)
        for worker in workers { try worker.ask() }
        #expect(workers.map(\.runs) == [[.web(1)], [.web(2)], []])
        #expect(try bench.queue.running == [.web(1), .web(2)])

        try workers[1].finish()
        #expect(try bench.run(.web(2)).phase == .succeeded)
        #expect(workers[2].runs == [.web(3)])
        #expect(try bench.queue.waiting == [.web(4)])
        try workers[1].ask()
        #expect(workers[1].runs == [.web(2)], "the limit has no room")
        try bench.apply(Settings.Action.runsMax(3), to: "/settings")
        #expect(workers[1].runs == [.web(2), .web(4)])
    }

    @Test("a release builds all projects, or none if one of them refuses")
    func release() throws {
        let bench = DeployBench()
        try bench.add("api")
        try bench.add("web") { $0.isPaused = true }
        let rejection = try bench.refusal(of: Coordinator.Action.release(["api", "web"]))
        #expect(rejection == Rejection("paused", "/projects/web: web is paused"))
        #expect(try bench.project("api").lastNumber == 0)
        #expect(try bench.queue.waiting == [])
        let unknown = try bench.refusal(of: Coordinator.Action.release(["api", "ios"]))
        #expect(unknown.code == FaultCode.notFound.rawValue)
        try bench.apply(Project.Action.undo, to: "/projects/web")
        try bench.apply(Coordinator.Action.release(["api", "web"]))
        #expect(try bench.queue.waiting == [RunID(project: "api", number: 1), .web(1)])
    }

    @Test("a success builds the next project; its refusal is a note, and the run stays succeeded")
    func next() throws {
        let bench = DeployBench()
        try bench.add("web", runs: 2) { $0.next = "site" }
        let ann = bench.worker("ann")
        try ann.ask()
        try ann.finish()
        #expect(try bench.run(.web(1)).phase == .succeeded)
        let notes = try bench.queue.notes
        #expect(notes == ["/projects/site: /projects: there is no child \"site\""])
        try bench.add("site")
        try ann.ask()
        try ann.finish()
        #expect(try bench.queue.waiting == [RunID(project: "site", number: 1)])
        #expect(try bench.project("site").lines[1]?.because == "after web/2")
        #expect(try bench.queue.notes.count == 1)
    }

    @Test("projects come and go with their runs; a project with a running one stays")
    func projects() throws {
        let bench = DeployBench()
        try bench.add("web", runs: 2)
        try bench.add("api", runs: 1)
        #expect(try bench.queue.names == ["api", "web"])
        let ann = bench.worker("ann")
        try ann.ask()
        #expect(try bench.refusal(of: Coordinator.Action.remove(project: "web")).code == "busy")
        try ann.finish()
        try bench.apply(Coordinator.Action.remove(project: "web"))
        #expect(try bench.queue.names == ["api"])
        #expect(try bench.queue.waiting == [RunID(project: "api", number: 1)])
        let exists = try bench.refusal(of: Coordinator.Action.add(project: "api"))
        #expect(exists.code == FaultCode.conflict.rawValue)
        #expect(try bench.refusal(of: Coordinator.Action.add(project: "a/b")).code == "bad_name")
        #expect(
            try bench.refusal(of: Coordinator.Action.remove(project: "ios")).code == "NOT_FOUND")
    }

    @Test("a client may not send what only the daemon sends")
    func internalActions() throws {
        let bench = DeployBench()
        try bench.add("web", runs: 1)
        let worker = Worker(connection: 1, name: "eve")
        let refusals = [
            try bench.refusal(of: Coordinator.Action.assign),
            try bench.refusal(of: Project.Action.nightly, to: "/projects/web"),
            try bench.refusal(of: Run.Action.expire, to: "/projects/web/runs/1"),
            try bench.refusal(
                of: Run.Action.start(worker: worker, limits: Settings.State()),
                to: "/projects/web/runs/1"),
            try bench.refusal(
                of: Workers.Action.give(run: .web(1), to: worker), to: "/workers"),
        ]
        #expect(refusals.map(\.code) == Array(repeating: "FORBIDDEN", count: 5))
        #expect(try bench.run(.web(1)).phase == .waiting)
    }

    @Test("what has ended is announced once, in order, also if the announcements fail for a while")
    func announcements() throws {
        let sink = AnnouncementSink(failures: 2)
        let bench = DeployBench(hooks: sink.hooks)
        try bench.add("web", runs: 2)
        let ann = bench.worker("ann")
        try ann.ask()
        try ann.finish()
        try bench.apply(Run.Action.cancel, to: "/projects/web/runs/2")
        #expect(sink.all == [])
        #expect(try bench.queue.announcements.map(\.run) == [.web(1), .web(2)])
        try bench.daemon.restart()
        bench.daemon.advance(by: .seconds(5))
        #expect(sink.all.map(\.run) == [.web(1), .web(2)])
        #expect(sink.all.map(\.phase) == [.succeeded, .cancelled])
        #expect(try bench.queue.announcements == [])
    }
}
