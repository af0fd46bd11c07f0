import DeployExample
import Foundation
import ReactorCore
import ReactorTesting
import Testing

/// Drives ``Project``, ``Target`` and ``Coordinator`` with their collections.
@Suite("A project and the coordinator, step by step")
struct ReactorStoreTests {
    private let ann = Worker(connection: 7, name: "ann")
    private let caller = Caller(connection: 7, client: 7, uid: 1, gid: 1, pid: 1)
    private let time = WallTime(milliseconds: 0)

    @Test("a project creates a run, follows it to its deployment, and knows where it went")
    func project() {
        let store = TestStore(Project(name: "web"))
        var settings = ProjectSettings()
        settings.deployScript = "ship"
        settings.environment = .staging
        let origin = Origin(client: caller.client, ordinal: 1)
        let sent = settings
        settings.author = caller.uid
        store.send(.configure(sent), by: caller) { [caller, settings, time] project in
            project.settings.set(settings, by: origin)
            project.lastChange = SettingsChange(uid: caller.uid, at: time)
        }
        let reply = store.send(.build()) { project in
            project.lastNumber = 1
            project.lines[1] = RunLine(because: "asked")
        }
        #expect(reply?.number == 1)
        store.expect(children: [1], of: \.$runs)
        store.expect(\.$stats) { $0.waiting = 1 }
        let run = store.child(\.$runs, 1)
        run.expect { run in
            run.order.script = "true"
            run.order.deployScript = "ship"
            run.order.environment = .staging
        }

        let limits = Settings.State()
        run.send(.start(worker: ann, limits: limits), by: .daemon) { [ann] run in
            run.phase = .running
            run.attempt = 1
            run.worker = ann
        }
        store.expect { $0.lines[1]?.turn(to: .running) }
        store.expect(\.$stats) { $0.turn(from: \.waiting, to: \.running) }

        run.send(.finish(exitCode: 0), by: caller) { run in
            run.phase = .deploying
            run.worker = nil
        }
        store.expect { $0.lines[1]?.turn(to: .deploying) }
        run.receive(.ended(phase: .succeeded, text: "")) { run in
            run.phase = .succeeded
            run.log = [""]
        }
        let mutations: [Project.Mutation] = [
            .turned(number: 1, phase: .succeeded, at: time), .succeeded(at: time),
        ]
        store.expect(mutations: mutations) { project in
            for mutation in mutations { Project().reduce(state: &project, mutation: mutation) }
        }
        #expect(store.state.lines[1]?.phase == .succeeded)
        #expect(store.state.lastSuccess == Date(timeIntervalSince1970: 0))
        store.expect(\.$stats) { $0.turn(from: \.running, to: \.succeeded) }
        store.expect(children: [.staging], of: \.$targets)
        store.child(\.$targets, .staging).expect { [time] target in
            target.run = 1
            target.deployed = time
        }
        store.finish()
    }

    @Test("the coordinator counts a project and its runs, and a removal takes them away")
    func coordinator() {
        let store = TestStore(Coordinator())
        store.send(.add(project: "web")) { $0.names = ["web"] }
        store.expect(children: ["web"], of: \.$projects)
        store.expect(\.$stats) { $0.projects = 1 }
        let web = store.child(\.$projects, "web")
        web.send(.build()) { project in
            project.lastNumber = 1
            project.lines[1] = RunLine(because: "asked")
        }
        web.expect(children: [1], of: \.$runs)
        web.child(\.$runs, 1).expect { $0.order.script = "true" }
        web.expect(\.$stats) { $0.waiting = 1 }
        store.expect { $0.waiting = [.web(1)] }
        store.expect(\.$stats) { $0.runs.waiting = 1 }
        store.receive(follower: .assign)

        store.sendRejected(.release(["web", "api"]), "NOT_FOUND")
        store.send(.remove(project: "web")) { queue in
            queue.names = []
            queue.waiting = []
        }
        store.expect(children: [], of: \.$projects)
        store.expect(\.$stats) { stats in
            stats.projects = 0
            stats.runs.waiting = 0
        }
        store.finish()
    }
}

extension RunLine {
    /// Changes the phase, at the time of a store whose clock has not moved.
    fileprivate mutating func turn(to phase: RunPhase) {
        self.phase = phase
        turned = WallTime(milliseconds: 0)
    }
}

extension RunStats {
    /// Counts a run elsewhere.
    fileprivate mutating func turn(
        from old: WritableKeyPath<RunStats, Int>, to new: WritableKeyPath<RunStats, Int>
    ) {
        self[keyPath: old] -= 1
        self[keyPath: new] += 1
    }
}
