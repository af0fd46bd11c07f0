import DeployExample
import Foundation
import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

@Suite("Triggers of projects")
struct TriggerTests {
    /// Creates a trigger of a project, and returns its token.
    private func open(_ project: String, in bench: DeployBench) throws -> UUID {
        let outcome = try bench.send(Coordinator.Action.openTrigger(project: project))
        guard case .applied(_, let reply?) = outcome else {
            throw UnexpectedOutcome(outcome: outcome)
        }
        let text = try reply.decode(as: Coordinator.Reply.self).trigger
        return try #require(UUID(uuidString: text))
    }

    private func path(_ token: UUID) -> String { "\(Coordinator.path(ofTrigger: token).path)" }

    private func state(_ token: UUID, _ bench: DeployBench) throws -> Trigger.State {
        try #require(bench.daemon.state(of: Trigger.self, at: path(token)))
    }

    @Test("a trigger builds its project, also after a restart, and each has another token")
    func fire() throws {
        let bench = DeployBench()
        for name in ["api", "web"] { try bench.add(name) }
        let (api, web) = (try open("api", in: bench), try open("web", in: bench))
        #expect(api != web && path(web) == "/triggers/\(web.uuidString.lowercased())")
        try bench.apply(Trigger.Action.fire, to: path(web))
        try bench.daemon.restart()
        bench.daemon.advance(by: .seconds(10))
        try bench.apply(Trigger.Action.fire, to: path(web))
        #expect(try bench.queue.waiting == [.web(1), .web(2)])
        #expect(try bench.project("web").lines[2]?.because == "trigger")
        #expect(try state(web, bench).lastFired != nil && state(web, bench).lastRefusal == nil)
        #expect(try state(api, bench).lastFired == nil)
    }

    @Test("a refused build is the trigger's last refusal, until a build is accepted")
    func refused() throws {
        let bench = DeployBench()
        try bench.add("web") { $0.isPaused = true }
        let token = try open("web", in: bench)
        try bench.apply(Trigger.Action.fire, to: path(token))
        let reason = "web is paused: continue it with deploy set web --no-paused"
        #expect(try state(token, bench).lastRefusal == reason)
        try bench.apply(Project.Action.undo, to: "/projects/web")
        try bench.apply(Trigger.Action.fire, to: path(token))
        #expect(try state(token, bench).lastRefusal == nil && bench.queue.waiting == [.web(1)])
    }

    @Test("a project takes its triggers with it, and a project that is not there gets none")
    func removed() throws {
        let bench = DeployBench()
        for name in ["api", "web"] { try bench.add(name) }
        let (api, web) = (try open("api", in: bench), try open("web", in: bench))
        try bench.apply(Coordinator.Action.remove(project: "web"))
        #expect(bench.daemon.state(of: Trigger.self, at: path(web)) == nil)
        #expect(try state(api, bench).project == "api")
        let refusal = try bench.refusal(of: Coordinator.Action.openTrigger(project: "web"))
        #expect(refusal.code == "NOT_FOUND")
    }

    @Test("triggers have a limit, up to which a project is removed with all of them")
    func limit() throws {
        let bench = DeployBench()
        for name in ["api", "web"] { try bench.add(name) }
        for _ in 0..<256 { _ = try open("web", in: bench) }
        let refusal = try bench.refusal(of: Coordinator.Action.openTrigger(project: "web"))
        #expect(refusal.code == "too_many")
        try bench.apply(Coordinator.Action.remove(project: "web"))
        _ = try open("api", in: bench)
    }
}
