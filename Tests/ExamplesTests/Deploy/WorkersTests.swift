import DeployExample
import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

@Suite("Workers that come, die and are lost")
struct WorkersTests {
    @Test("a worker is a connection: the daemon cannot ask for work")
    func daemon() {
        let store = TestStore(Workers())
        store.sendRejected(.next(name: "ann"), "no_connection", by: .daemon)
        store.finish()
    }

    @Test("a run whose worker dies pauses, waits again, and goes to another worker")
    func death() throws {
        let bench = DeployBench()
        try bench.add("web", runs: 1)
        let ann = bench.worker("ann")
        let bob = bench.worker("bob")
        try ann.ask()
        try bob.ask()
        #expect(ann.runs == [.web(1)] && bob.runs == [])
        ann.die()
        #expect(try bench.run(.web(1)).phase == .pausing)
        #expect(try bench.run(.web(1)).log == ["worker ann has gone"])
        #expect(try bench.queue.running == [])
        bench.daemon.advance(by: .seconds(10))
        #expect(bob.runs == [.web(1)])
        #expect(try bench.run(.web(1)).attempt == 2)
        #expect(try bob.finish().revision != nil)
        #expect(try bench.run(.web(1)).phase == .succeeded)
    }

    @Test("a run fails when its last attempt is lost, and the next one starts")
    func lastAttempt() throws {
        let bench = DeployBench()
        try bench.apply(Settings.Action.attemptsMax(1), to: "/settings")
        try bench.apply(Settings.Action.runsMax(1), to: "/settings")
        try bench.add("web", runs: 2)
        let ann = bench.worker("ann")
        let bob = bench.worker("bob")
        try ann.ask()
        try bob.ask()
        ann.die()
        #expect(try bench.run(.web(1)).phase == .failed)
        #expect(bob.runs == [.web(2)])
    }

    @Test("a worker whose time is over loses the run, and its report is refused")
    func timeout() throws {
        let bench = DeployBench()
        try bench.apply(Settings.Action.timeout(.seconds(60)), to: "/settings")
        try bench.add("web", runs: 1)
        let ann = bench.worker("ann")
        try ann.ask()
        bench.daemon.advance(by: .seconds(59))
        #expect(try bench.run(.web(1)).phase == .running)
        bench.daemon.advance(by: .seconds(2))
        #expect(try bench.run(.web(1)).phase == .pausing)
        guard case .rejected(let rejection) = try ann.finish() else {
            Issue.record("the report of a lost worker is applied")
            return
        }
        #expect(rejection.code == "not_yours")
        bench.daemon.advance(by: .seconds(10))
        #expect(try bench.run(.web(1)).phase == .waiting)
        #expect(try bench.queue.waiting == [.web(1)])
    }

    @Test("a worker that waits and dies is forgotten; a second request of it is refused")
    func waiting() throws {
        let bench = DeployBench()
        let ann = bench.worker("ann")
        try ann.ask()
        try ann.ask()
        #expect(
            ann.others == [.rejected(Rejection("waits", "this connection waits for a run already"))]
        )
        let workers = { bench.daemon.state(of: Workers.self, at: "/workers") }
        #expect(workers()?.idle.count == 1 && workers()?.names.count == 1)
        ann.die()
        #expect(workers()?.idle.count == 0 && workers()?.names.count == 0)
        try bench.add("web", runs: 1)
        #expect(try bench.queue.waiting == [.web(1)])
    }

    @Test("a restart of the daemon ends all connections: runs wait again, and workers ask again")
    func restart() throws {
        let bench = DeployBench()
        try bench.add("web", runs: 2)
        let ann = bench.worker("ann")
        let bob = bench.worker("bob")
        try ann.ask()
        try bench.daemon.restart()
        #expect(try bench.run(.web(1)).phase == .pausing)
        bench.daemon.advance(by: .seconds(10))
        #expect(try bench.queue.waiting == [.web(2), .web(1)])
        try bob.ask()
        #expect(bob.runs == [.web(2)])
        #expect(ann.runs == [.web(1)])
    }
}
