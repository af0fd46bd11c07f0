import DeployExample
import ReactorCore
import ReactorTesting
import Testing

@Suite("A run, step by step")
struct RunTests {
    private let ann = Worker(connection: 7, name: "ann")
    private let caller = Caller(connection: 7, client: 7, uid: 1, gid: 1, pid: 1)

    @Test("every step of a run changes what the test states, and nothing else")
    func life() {
        let store = TestStore(Run())
        let limits = Settings.State()
        store.send(.start(worker: ann, limits: limits), by: .daemon) { [ann] run in
            run.phase = .running
            run.attempt = 1
            run.worker = ann
        }
        store.sendRejected(.start(worker: ann, limits: limits), "running", by: .daemon)
        store.send(.log("compiling"), by: caller) { $0.log = ["compiling"] }
        store.sendRejected(.finish(exitCode: 0), "not_yours")
        store.send(.finish(exitCode: 0), by: caller) { run in
            run.phase = .succeeded
            run.worker = nil
            run.log = ["compiling", "built"]
        }
        store.advance(by: limits.timeout)
        store.finish()
    }

    @Test("a lost run pauses, and waits again after the pause")
    func loss() {
        let store = TestStore(Run())
        var limits = Settings.State()
        limits.timeout = .seconds(10)
        store.send(.start(worker: ann, limits: limits), by: .daemon) { [ann, limits] run in
            run.phase = .running
            run.attempt = 1
            run.worker = ann
            run.limits = limits
        }
        store.advance(by: .seconds(10))
        store.receive(follower: .expire) { run in
            run.phase = .pausing
            run.worker = nil
            run.log = ["its time was over"]
        }
        // The pause is drawn between its least length and half as much again.
        store.advance(by: limits.retryPause - .nanoseconds(1))
        store.advance(by: limits.retryPause / 2 + .nanoseconds(1))
        store.receive(follower: .retry) { $0.phase = .waiting }
        store.finish()
    }
}
