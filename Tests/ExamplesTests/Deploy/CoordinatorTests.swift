import DeployExample
import Foundation
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

    @Test("a raised limit starts as many runs as there are workers, in one transaction")
    func manyStarts() throws {
        let bench = DeployBench()
        try bench.apply(Settings.Action.runsMax(0), to: "/settings")
        for name in 0..<20 { try bench.add("p\(name)", runs: 10) }
        let workers = (0..<200).map { bench.worker("worker \($0)") }
        for worker in workers { try worker.ask() }
        #expect(try bench.queue.waiting.count == 200)
        let before = bench.daemon.tree.revision.sequence
        try bench.apply(Settings.Action.runsMax(1_000), to: "/settings")
        #expect(try bench.queue.running.count == 200 && bench.queue.waiting == [])
        #expect(workers.allSatisfy { $0.runs.count == 1 })
        #expect(Set(workers.flatMap(\.runs)).count == 200)
        #expect(bench.daemon.tree.revision.sequence == before + 2, "the setting, and the starts")
        let refusal = try bench.refusal(of: Settings.Action.runsMax(1_001), to: "/settings")
        #expect(refusal.message == "runsMax(1001) is out of range: set 0 to 1,000 runs")
    }

    @Test("no announcement is dropped while none can leave")
    func manyAnnouncements() throws {
        let sink = AnnouncementSink(failures: .max)
        let bench = DeployBench(hooks: sink.hooks)
        for name in 0..<11 {
            try bench.add("p\(name)", runs: 10)
            for number in 1...10 {
                try bench.apply(Run.Action.cancel, to: "/projects/p\(name)/runs/\(number)")
            }
        }
        let announcements = try bench.queue.announcements
        #expect(announcements.count == 110 && sink.all == [])
        #expect(announcements.first?.run == RunID(project: "p0", number: 1))
    }

    @Test("a release builds all projects, or none if one of them refuses")
    func release() throws {
        let bench = DeployBench()
        try bench.add("api")
        try bench.add("web") { $0.isPaused = true }
        let rejection = try bench.refusal(of: Coordinator.Action.release(["api", "web"]))
        #expect(
            rejection
                == Rejection(
                    "paused",
                    "/projects/web: web is paused: continue it with deploy set web --no-paused")
        )
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
        let turned = try #require(try bench.project("web").lines[1]?.turned)
        let lastSuccess = Date(timeIntervalSince1970: Double(turned.milliseconds) / 1_000)
        #expect(try bench.project("web").lastSuccess == lastSuccess)
        let notes = try bench.queue.notes
        let refusal = "there is no child \"site\": its parent has to create it first"
        #expect(notes == ["next project: /projects: \(refusal)"])
        try bench.add("site")
        #expect(try bench.project("site").lastSuccess == nil)
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

    @Test("announcements that fail too often stop, which is a note, until a person starts them")
    func silence() throws {
        let sink = AnnouncementSink(failures: 21)
        let bench = DeployBench(hooks: sink.hooks)
        try bench.add("web", runs: 1)
        #expect(try bench.refusal(of: Coordinator.Action.announce).code == "not_silent")
        try bench.apply(Run.Action.cancel, to: "/projects/web/runs/1")
        bench.daemon.advance(by: .seconds(3_600))
        #expect(try bench.queue.silence == "out of order" && sink.all == [])
        let note = "the announcements have stopped: out of order: start them with deploy announce"
        #expect(try bench.queue.notes == [note])
        try bench.apply(Coordinator.Action.announce)
        bench.daemon.settle()
        #expect(try bench.queue.silence == "out of order", "it fails once more")
        #expect(try bench.queue.notes == [note, note])
        try bench.apply(Coordinator.Action.announce)
        bench.daemon.settle()
        #expect(try bench.queue.silence == nil && sink.all.map(\.run) == [.web(1)])
        try bench.build("web")
        try bench.apply(Run.Action.cancel, to: "/projects/web/runs/2")
        bench.daemon.settle()
        #expect(sink.all.map(\.run) == [.web(1), .web(2)])
        #expect(try bench.queue.announcements == [])
    }

    @Test("a start of the daemon announces again")
    func silentRestart() throws {
        let sink = AnnouncementSink(failures: 20)
        let bench = DeployBench(hooks: sink.hooks)
        try bench.add("web", runs: 1)
        try bench.apply(Run.Action.cancel, to: "/projects/web/runs/1")
        bench.daemon.advance(by: .seconds(3_600))
        #expect(try bench.queue.silence != nil && sink.all == [])
        try bench.daemon.restart()
        bench.daemon.settle()
        #expect(try bench.queue.silence == nil && sink.all.map(\.run) == [.web(1)])
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
