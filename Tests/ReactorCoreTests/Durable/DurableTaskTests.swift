import Synchronization
import Testing

@testable import ReactorCore

/// Plans actions, promises effects, and notes their results.
@Reactor
private struct Planner {
    let attempts: Attempts

    enum Action: Equatable, Sendable {
        case wake(name: String, milliseconds: Int, catchUp: CatchUp)
        case tick(name: String, milliseconds: Int, catchUp: CatchUp)
        case begin(name: String, first: Int, every: Int)
        case drop(name: String)
        case rang(name: String)
        case charge(name: String, amount: Int)
        case chargeMany(from: Int, count: Int)
        case cancel(id: String)
        case refuse
    }

    enum Mutation: Equatable, Sendable {
        case noted(String)
    }

    struct State: Equatable, Sendable {
        var notes: [String] = []
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .wake(let name, let milliseconds, let catchUp):
            Mutations.none.scheduling(
                name, after: .milliseconds(milliseconds), catchUp: catchUp,
                Action.rang(name: name))
        case .tick(let name, let milliseconds, let catchUp):
            Mutations.none.scheduling(
                name, every: .milliseconds(milliseconds), catchUp: catchUp,
                Action.rang(name: name))
        case .begin(let name, let first, let period):
            Mutations.none.scheduling(
                name, every: .milliseconds(period), first: .milliseconds(first),
                Action.rang(name: name))
        case .drop(let name): Mutations.none.dropping(name)
        case .rang(let name): [.noted(name)]
        case .charge(let name, let amount):
            Mutations(.noted("charging \(name)")).undertaking(name, amount)
        case .chargeMany(let first, let count):
            (first..<first + count).reduce(Mutations.none) { $0.undertaking("\($1)", $1) }
        case .cancel(let id): Mutations.none.cancelling(id)
        case .refuse: throw Rejection("no", "no")
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        if case .noted(let note) = mutation { state.notes.append(note) }
    }

    func perform(_ task: DurableTask, state: State) -> Effect<Mutation> {
        Effect(cancelID: "charge") { [attempts] emit in
            let amount = try task.payload.decode(as: Int.self)
            guard attempts.begin("\(task.name)#\(task.id) \(amount)") else { return }
            emit.last(.noted("charged \(amount)"))
            emit(.noted("too late"))
        }
    }
}

/// The effects on the outside world, and whether that world responds.
private final class Attempts: Sendable {
    private let state = Mutex<(log: [String], isDown: Bool)>(([], false))

    var log: [String] { state.withLock { $0.log } }
    func set(isDown: Bool) { state.withLock { $0.isDown = isDown } }

    func begin(_ text: String) -> Bool {
        state.withLock {
            $0.log.append(text)
            return !$0.isDown
        }
    }
}

@WireCodable
private struct OldLetter: Equatable { var street = "" }

@WireCodable
private struct NewLetter: Equatable { var road = "" }

/// Drives ``KeptPayload`` and others.
@Suite("Planned actions and durable effects")
struct DurableTaskTests {
    private let attempts = Attempts()

    private func bench(at time: Int64 = 0, after former: TaskBench? = nil) throws -> TaskBench {
        try TaskBench(Planner(attempts: attempts), at: time, after: former)
    }

    private func notes(_ bench: TaskBench) throws -> [String] {
        try bench.tree.state(of: Planner.self).notes
    }

    @Test("a payload is read as strictly as a stored state")
    func strictPayload() throws {
        let payload = KeptPayload(WireEmbedded(OldLetter(street: "A")))
        #expect(try payload.decode(as: OldLetter.self).street == "A")
        // On the wire, an unknown field is skipped.
        #expect(try WireEmbedded(OldLetter(street: "A")).decode(as: NewLetter.self).road == "")
        #expect(throws: WireError.self) { try payload.decode(as: NewLetter.self) }
    }

    @Test("a planned action runs once at its time, and is then removed")
    func once() async throws {
        let bench = try bench()
        #expect(
            try bench.send(Planner.Action.wake(name: "a", milliseconds: 500, catchUp: .once))
                == "applied 1")
        #expect(bench.promised == ["a#1 at 500"])
        bench.world.time = 500
        await bench.run()
        #expect(bench.world.waits == [.milliseconds(500)])
        #expect(try notes(bench) == ["a"])
        #expect(bench.promised.isEmpty)
        await bench.run()
        #expect(try notes(bench) == ["a"])
    }

    @Test("a planned action survives a restart, and runs immediately if its time has passed")
    func restart() async throws {
        let first = try bench()
        _ = try first.send(Planner.Action.wake(name: "a", milliseconds: 500, catchUp: .once))
        _ = try first.send(Planner.Action.wake(name: "b", milliseconds: 900, catchUp: .once))
        _ = try first.send(Planner.Action.wake(name: "c", milliseconds: 500, catchUp: .skip))
        let second = try bench(at: 700, after: first)
        #expect(second.promised == ["a#1 at 500", "b#2 at 900", "c#3 at 500"])
        await second.run()
        #expect(second.world.waits == [.zero, .milliseconds(200), .zero])
        #expect(try notes(second) == ["a", "b"])
        // A third tree does not repeat actions that have run.
        let third = try bench(at: 5_000, after: second)
        #expect(third.promised.isEmpty)
        await third.run()
        #expect(try notes(third) == ["a", "b"])
    }

    @Test(
        "times missed while stopped are skipped, merged into one, or all run",
        arguments: [(CatchUp.skip, 0), (.once, 1), (.all, 4)])
    func catchUp(_ policy: CatchUp, _ count: Int) async throws {
        let first = try bench()
        _ = try first.send(Planner.Action.tick(name: "t", milliseconds: 100, catchUp: policy))
        first.world.time = 100
        await first.run()
        #expect(try notes(first) == ["t"])
        #expect(first.promised == ["t#1 at 200"])
        let second = try bench(at: 530, after: first)
        await second.run()
        #expect(try notes(second).count == 1 + count)
        // The next time is planned from the previous ones, without drift.
        #expect(second.promised == ["t#1 at 600"])
        second.world.time = 600
        await second.run()
        #expect(try notes(second).count == 2 + count)
    }

    @Test("a repeated action has its own first time, also after a restart, and then its period")
    func firstTime() async throws {
        let first = try bench()
        _ = try first.send(Planner.Action.begin(name: "t", first: 450, every: 100))
        #expect(first.promised == ["t#1 at 450"])
        let second = try bench(at: 400, after: first)
        #expect(second.promised == ["t#1 at 450"])
        second.world.time = 450
        await second.run()
        #expect(try notes(second) == ["t"])
        #expect(second.promised == ["t#1 at 550"])
        second.world.time = 550
        await second.run()
        #expect(try notes(second) == ["t", "t"])
        #expect(second.promised == ["t#1 at 650"])
        #expect(second.world.waits == [.milliseconds(50), .milliseconds(100)])
    }

    @Test("a repeated action can begin at once")
    func firstAtOnce() async throws {
        let bench = try bench()
        _ = try bench.send(Planner.Action.begin(name: "t", first: 0, every: 300))
        #expect(bench.promised == ["t#1 at 0"])
        await bench.run()
        #expect(try notes(bench) == ["t"])
        #expect(bench.promised == ["t#1 at 300"])
    }

    @Test("J67: a clock set back ten years delays no planned action beyond its interval")
    func clockSetBack() async throws {
        let first = try bench(at: 400_000_000_000)
        _ = try first.send(Planner.Action.wake(name: "a", milliseconds: 500, catchUp: .once))
        _ = try first.send(Planner.Action.tick(name: "t", milliseconds: 70, catchUp: .all))
        let second = try bench(at: 1_000, after: first)
        await second.run()
        #expect(second.world.waits == [.milliseconds(500), .milliseconds(70)])
        #expect(second.promised == ["t#2 at 1070"])
    }

    @Test("a plan with the same name is replaced, and can be dropped")
    func replaced() async throws {
        let bench = try bench()
        for time in [500, 800] {
            _ = try bench.send(Planner.Action.wake(name: "a", milliseconds: time, catchUp: .once))
        }
        #expect(bench.promised == ["a#2 at 800"])
        _ = try bench.send(Planner.Action.drop(name: "a"))
        #expect(bench.promised.isEmpty)
        bench.world.time = 9_000
        await bench.run()
        #expect(try notes(bench).isEmpty)
    }

    @Test("the plans of a refused batch are discarded")
    func rolledBack() async throws {
        let bench = try bench()
        _ = try bench.tree.sendTogether([
            ("/", Planner.Action.wake(name: "a", milliseconds: 1, catchUp: .once)),
            ("/", Planner.Action.refuse),
        ])
        bench.commit()
        #expect(bench.promised.isEmpty)
        await bench.run()
        #expect(try notes(bench).isEmpty)
    }

    @Test("R108: a durable effect is performed again after a restart, with the same id")
    func durable() async throws {
        let first = try bench()
        attempts.set(isDown: true)
        _ = try first.send(Planner.Action.charge(name: "order", amount: 42))
        #expect(first.promised == ["order#1"])
        // The process ends before the effect does, so no result was delivered.
        let second = try bench(after: first)
        #expect(second.promised == ["order#1"])
        attempts.set(isDown: false)
        await second.run()
        #expect(attempts.log == ["order#1 42"])
        #expect(try notes(second) == ["charging order", "charged 42"])
        #expect(second.promised.isEmpty)
        await second.run()
        let third = try bench(after: second)
        await third.run()
        #expect(try notes(third) == ["charging order", "charged 42"])
        #expect(attempts.log == ["order#1 42"])
    }

    @Test("R108: the last report of a durable effect and its end are one transaction")
    func reported() async throws {
        let bench = try bench()
        _ = try bench.send(Planner.Action.charge(name: "order", amount: 7))
        let before = bench.tree.turn.sequence
        await bench.run()
        #expect(bench.tree.turn.sequence == before + 1)
        #expect(try notes(bench) == ["charging order", "charged 7"])
        #expect(bench.promised.isEmpty)
    }

    @Test("R108: a durable effect that ends without a report, or fails, is completed too")
    func ended() async throws {
        let bench = try bench()
        attempts.set(isDown: true)
        _ = try bench.send(Planner.Action.charge(name: "order", amount: 7))
        await bench.run()
        #expect(bench.promised.isEmpty)
        let other = try TaskBench(Idle())
        _ = try other.send(Idle.Action.promise)
        await other.run()
        #expect(other.promised.isEmpty)
    }

    @Test("R108: durable effects beyond the limit start when others have ended")
    func postponed() async throws {
        let bench = try bench()
        bench.tree.effectsMax = 1_024
        let count = 1_024 * 2 + 10
        for first in stride(from: 0, to: count, by: 512) {
            let action = Planner.Action.chargeMany(from: first, count: min(512, count - first))
            #expect(try bench.send(action).hasPrefix("applied"))
        }
        #expect(bench.promised.count == count)
        var rounds = 0
        while !bench.promised.isEmpty, rounds < 20 {
            await bench.run()
            rounds += 1
        }
        #expect(bench.promised.isEmpty && bench.tree.tasks.postponedCount == 0)
        #expect(Set(attempts.log).count == count && attempts.log.count == count)
    }

    @Test("R108: an effect dropped while it waits for room does not start")
    func droppedWhilePostponed() async throws {
        let bench = try bench()
        bench.tree.effectsMax = 1_024
        for first in stride(from: 0, to: 1_024, by: 512) {
            _ = try bench.send(Planner.Action.chargeMany(from: first, count: 512))
        }
        _ = try bench.send(Planner.Action.charge(name: "late", amount: 1))
        _ = try bench.send(Planner.Action.drop(name: "late"))
        for _ in 0..<4 { await bench.run() }
        #expect(attempts.log.count == 1_024 && bench.promised.isEmpty)
    }

    @Test("R108: cancelling by name does not affect a durable effect, and dropping ends it")
    func cancelled() async throws {
        for action in [Planner.Action.cancel(id: "charge"), .drop(name: "order")] {
            let bench = try bench()
            _ = try bench.send(Planner.Action.charge(name: "order", amount: 7))
            _ = try bench.send(action)
            await bench.run()
            let isDropped = action == .drop(name: "order")
            #expect(try notes(bench).contains("charged 7") == !isDropped)
            #expect(bench.promised.isEmpty)
        }
    }

    @Test("R108: a restarted child keeps its promises")
    func restarted() async throws {
        let bench = try TaskBench(Dorm())
        _ = try bench.send(Dorm.Action.make("x"))
        #expect(try bench.tree.send(Idle.Action.promise, to: "/idlers/x").hasPrefix("applied"))
        bench.commit()
        #expect(bench.tree.tasks.performingCount == 1)
        _ = try bench.send(Dorm.Action.restart("x"))
        #expect(bench.tree.tasks.performingCount == 1 && bench.tree.effects.running.count == 1)
        await bench.run()
        #expect(bench.promised.isEmpty && bench.tree.tasks.performingCount == 0)
    }

    @Test("a tree at the limit of promises accepts replacements and removals")
    func full() async throws {
        let bench = try bench()
        for first in stride(from: 0, to: CoreLimits.tasksMax, by: 256) {
            _ = try bench.tree.send(Planner.Action.chargeMany(from: first, count: 256))
        }
        #expect(bench.promised.count == CoreLimits.tasksMax)
        let more = try bench.tree.send(Planner.Action.charge(name: "more", amount: 1))
        #expect(more.contains("QUOTA"))
        let again = try bench.tree.send(Planner.Action.charge(name: "7", amount: 1))
        #expect(again.hasPrefix("applied"))
        #expect(try bench.tree.send(Planner.Action.drop(name: "8")).hasPrefix("applied"))
        let last = try bench.tree.send(Planner.Action.charge(name: "more", amount: 1))
        #expect(last.hasPrefix("applied"))
    }

    @Test("after a suspension of the machine missed times are skipped, if so configured")
    func suspended() async throws {
        let bench = try bench()
        _ = try bench.send(Planner.Action.tick(name: "t", milliseconds: 100, catchUp: .skip))
        bench.world.time = 1_130
        await bench.run()
        #expect(try notes(bench).isEmpty && bench.promised == ["t#1 at 1200"])
        // A slightly late loop is not a suspended machine.
        bench.world.time = 1_510
        await bench.run()
        #expect(try notes(bench) == ["t"] && bench.promised == ["t#1 at 1600"])
    }

    @Test("a removed child's promises are removed")
    func gone() async throws {
        let bench = try TaskBench(Dorm())
        _ = try bench.send(Dorm.Action.make("x"))
        bench.commit()
        #expect(try bench.tree.send(Idle.Action.plan, to: "/idlers/x").hasPrefix("applied"))
        bench.commit()
        #expect(bench.promised == ["later#1 at 50"])
        _ = try bench.send(Dorm.Action.take("x"))
        #expect(bench.promised.isEmpty)
        let second = try TaskBench(Dorm(), at: 100, after: bench)
        #expect(second.promised.isEmpty)
    }
}

/// A reactor that promises effects and does not perform them.
@Reactor
private struct Idle {
    enum Action: Sendable {
        case promise
        case plan
    }

    enum Mutation: Sendable { case nothing }
    struct State: Equatable, Sendable {}

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .promise: Mutations.none.undertaking("nothing")
        case .plan: Mutations.none.scheduling("later", after: .milliseconds(50), Action.plan)
        }
    }

    func reduce(state: inout State, mutation: Mutation) {}
}

/// A reactor whose children have promises.
@Reactor
private struct Dorm {
    @Children var idlers = { (_: WireKey) in Idle() }

    enum Action: Sendable {
        case make(String)
        case restart(String)
        case take(String)
    }

    enum Mutation: Sendable { case nothing }
    struct State: Equatable, Sendable {}

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .make(let name): Mutations.none.creating($idlers, WireKey(name))
        case .restart(let name): Mutations.none.restarting($idlers, WireKey(name))
        case .take(let name): Mutations.none.removing($idlers, WireKey(name))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {}
}
