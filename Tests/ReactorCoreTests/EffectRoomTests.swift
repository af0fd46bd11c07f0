import Testing

@testable import ReactorCore

/// Counts completed effects; a hanging effect runs until it is cancelled.
@Reactor
private struct Worker {
    enum Action: Equatable, Sendable {
        case work(Int)
        case hang(String)
        case stop(String)
        case plan
        case pass(Int)
    }

    enum Mutation: Equatable, Sendable {
        case asked
        case done
    }

    struct State: Equatable, Sendable {
        var asked = 0
        var done = 0
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .work(let count):
            return (0..<count).reduce(Mutations(.asked)) { mutations, _ in
                mutations.effect(Effect { emit in emit(.done) })
            }
        case .hang(let name):
            return Mutations(.asked).effect(
                Effect(cancelID: name) { emit in
                    try await emit.clock.sleep(for: .seconds(1_000))
                })
        case .stop(let name): return Mutations(.asked).cancelling(name)
        case .plan:
            return Mutations(.asked).scheduling("plan", after: .seconds(5), Action.work(1))
        case .pass(let count):
            context.dispatch(.work(count))
            return [.asked]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .asked: state.asked += 1
        case .done: state.done += 1
        }
    }
}

/// A reactor whose workers start with an effect each; it starts one effect for each completed one.
@Reactor
private struct Crew {
    @Children var members = { (_: WireKey) in Member() }

    enum Action: Equatable, Sendable {
        case hire(from: Int, count: Int)
        case fire(Int)
        case hang(String)
        case stop(String)
    }

    enum Mutation: Equatable, Sendable { case noted }
    struct State: Equatable, Sendable { var notes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .hire(let first, let count):
            (first..<first + count).reduce(Mutations.none) { mutations, number in
                mutations.creating($members, WireKey("\(number)"))
            }
        case .fire(let number): Mutations.none.removing($members, WireKey("\(number)"))
        case .hang(let name):
            .none.effect(
                Effect(cancelID: name) { emit in
                    try await emit.clock.sleep(for: .seconds(1_000))
                })
        case .stop(let name): .none.cancelling(name)
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.notes += 1 }

    @Reacts(to: \Crew.$members)
    func worked(_ mutation: Member.Mutation, key: WireKey) -> Mutations<Mutation> {
        mutation == .poked ? Mutations(.noted).effect(Effect { emit in emit(.noted) }) : .none
    }
}

@Reactor
private struct Member {
    enum Action: Equatable, Sendable { case poke }
    enum Mutation: Equatable, Sendable {
        case started
        case poked
    }
    struct State: Equatable, Sendable {
        var starts = 0
        var pokes = 0
    }

    func start(state: State) -> Mutations<Mutation> {
        .none.effect(Effect { emit in emit(.started) })
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> { [.poked] }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .started: state.starts += 1
        case .poked: state.pokes += 1
        }
    }
}

@Suite("Room for effects")
struct EffectRoomTests {
    @Test("R101: ten thousand actions with an effect each all run")
    func all() throws {
        let bench = StoreBench(Worker())
        for _ in 0..<10_000 { try bench.store.dispatch(.work(1)) }
        bench.settle()
        #expect(bench.state == Worker.State(asked: 10_000, done: 10_000))
        #expect(bench.complaints.isEmpty)
    }

    @Test("R101: ten thousand performed actions return after their effects have run")
    func performed() async throws {
        let store = Store(Worker())
        for _ in 0..<2_000 { try store.dispatch(.work(4)) }
        try await store.perform(.work(2_000))
        while store.state.done < 10_000 {
            store.drain()
            await Task.yield()
        }
        #expect(store.state == Worker.State(asked: 2_001, done: 10_000))
    }

    @Test("R101: an action without room for its effects is BUSY and changes nothing")
    func busy() throws {
        let store = Store(Worker(), executor: nil, effectsMax: 3)
        try store.dispatch(.hang("a"))
        try store.dispatch(.hang("b"))
        let before = (store.state, store.sequence)
        let rejection = #expect(throws: Rejection.self) { try store.dispatch(.work(2)) }
        #expect(rejection?.code == FaultCode.busy.rawValue)
        #expect(rejection?.message.contains("effectsMax is 3") ?? false)
        #expect(store.state == before.0 && store.sequence == before.1)
        try store.dispatch(.hang("c"))
        #expect(throws: Rejection.self) { try store.dispatch(.hang("d")) }
        // An action without an effect needs no room.
        try store.dispatch(.stop("x"))
    }

    @Test("R101: a cancelled effect occupies its place until it has ended")
    func orphans() throws {
        let bench = StoreBench(Worker())
        bench.store.core.tree.effectsMax = 2
        try bench.send(.hang("a"))
        try bench.send(.hang("b"))
        try bench.store.dispatch(.stop("a"))
        #expect(throws: Rejection.self) { try bench.store.dispatch(.hang("c")) }
        bench.settle()
        try bench.send(.hang("c"))
        #expect(bench.store.core.tree.effects.running.count == 2)
    }

    @Test("R101: a batch is refused completely if one of its actions has no room")
    func batch() throws {
        let tree = Tree(ReactorGroup([("a", Worker()), ("b", Worker())]), epoch: 1)
        tree.effectsMax = 2
        let outcome = try tree.sendTogether([
            ("/a", Worker.Action.work(1)), ("/b", Worker.Action.work(2)),
        ])
        #expect(outcome == "rejected BUSY")
        #expect(try tree.state(of: Worker.self, "/a") == Worker.State())
        #expect(tree.effects.running.isEmpty && tree.turn.effects.isEmpty)
        #expect(tree.revision.sequence == 0)
    }

    @Test("R101: a follower without room is refused, changes nothing, and is logged")
    func follower() throws {
        let tree = Tree(Worker(), epoch: 1)
        tree.effectsMax = 1
        #expect(try tree.send(Worker.Action.pass(2)) == "applied 1")
        #expect(try tree.state(of: Worker.self).asked == 1)
        #expect(tree.turn.complaints.count == 1)
        #expect(tree.turn.complaints.first?.contains("BUSY") ?? false)
    }

    @Test("R101: a planned action without room is retried, and not lost")
    func planned() throws {
        let bench = StoreBench(Worker())
        bench.store.core.tree.effectsMax = 1
        try bench.send(.hang("a"))
        try bench.send(.plan)
        bench.advance(by: .seconds(8))
        #expect(bench.state.asked == 2)
        try bench.send(.stop("a"))
        bench.advance(by: .seconds(1))
        #expect(bench.state == Worker.State(asked: 4, done: 1))
        #expect(bench.store.core.tree.tasks.count == 0)
    }

    @Test("R101: the starts of two thousand children all run, a few at a time if room is scarce")
    func starts() throws {
        for effectsMax in [CoreLimits.effectsMax, 100, 1] {
            let bench = StoreBench(Crew())
            let tree = bench.store.core.tree
            tree.effectsMax = effectsMax
            for first in stride(from: 0, to: 2_000, by: 500) {
                try bench.store.dispatch(.hire(from: first, count: 500))
            }
            #expect(tree.effects.running.startedCount <= effectsMax)
            bench.settle()
            let members = tree.nodes.order.compactMap { $0 as? Node<Member> }
            #expect(members.count == 2_000)
            #expect(members.allSatisfy { $0.state.starts == 1 })
            #expect(bench.complaints.isEmpty && tree.effects.waiting.isEmpty)
            #expect(tree.effects.running.isEmpty)
        }
    }

    @Test("R101: at the maximum of waiting effects no child is created, and no start is dropped")
    func waiting() throws {
        let bench = StoreBench(Crew())
        let tree = bench.store.core.tree
        tree.effects.limit(to: 1, waitingMax: 2)
        try bench.send(.hang("a"))
        for number in 0..<2 { try bench.send(.hire(from: number, count: 1)) }
        let before = tree.revision
        let rejection = #expect(throws: Rejection.self) {
            try bench.store.dispatch(.hire(from: 2, count: 1))
        }
        #expect(rejection?.code == FaultCode.busy.rawValue)
        #expect(rejection?.message.contains("effectsWaitingMax 2") ?? false)
        #expect(tree.revision == before)
        // One creation may ask for more than what is left.
        tree.effects.limit(to: 1, waitingMax: 3)
        try bench.send(.hire(from: 2, count: 5))
        try bench.send(.stop("a"))
        let members = tree.nodes.order.compactMap { $0 as? Node<Member> }
        #expect(members.map(\.state.starts) == Array(repeating: 1, count: 7))
        #expect(bench.complaints.isEmpty)
    }

    @Test("R101: the start of a removed child that waits for room does not begin")
    func removedWhileWaiting() throws {
        let bench = StoreBench(Crew())
        let tree = bench.store.core.tree
        tree.effectsMax = 1
        try bench.send(.hang("a"))
        for number in 0..<1_000 {
            try bench.send(.hire(from: number, count: 1))
            if number > 0 { try bench.send(.fire(number - 1)) }
        }
        // Entries removed from the queue leave no growing remains.
        #expect(tree.effects.waiting.count == 1 && tree.effects.waiting.keptCount < 100)
        try bench.send(.stop("a"))
        #expect(tree.effects.running.isEmpty && tree.effects.orphans.isEmpty)
        #expect(tree.nodes.order.compactMap { $0 as? Node<Member> }.map(\.state.starts) == [1])
    }

    @Test("R101: an action is BUSY if the parent's reaction to it has no room for its effect")
    func reaction() throws {
        let bench = StoreBench(Crew())
        let tree = bench.store.core.tree
        try bench.send(.hire(from: 0, count: 2))
        tree.effectsMax = 1
        try bench.send(.hang("a"))
        let before = tree.revision
        let outcome = try tree.send(Member.Action.poke, to: "/members/0")
        #expect(outcome == "rejected BUSY")
        #expect(tree.revision == before && bench.state.notes == 0)
        #expect(try tree.state(of: Member.self, "/members/0").pokes == 0)
        #expect(
            try tree.sendTogether([
                ("/members/0", Member.Action.poke), ("/members/1", Member.Action.poke),
            ]) == "rejected BUSY")
        #expect(try tree.state(of: Member.self, "/members/0").pokes == 0)
        tree.effectsMax = 2
        bench.send(Member.Action.poke, to: "/members/0")
        #expect(bench.state.notes == 2)
        #expect(try tree.state(of: Member.self, "/members/0").pokes == 1)
        #expect(bench.complaints.isEmpty)
    }

    @Test("R101: emissions after an effect has returned are dropped, and logged once")
    func late() throws {
        let leak = Kept<Emit<Leaker.Mutation>>()
        let bench = StoreBench(Leaker(leak: leak))
        try bench.send(.leak)
        #expect(bench.complaints.isEmpty)
        for _ in 0..<2 { leak.all.last?.callAsFunction(.came) }
        bench.settle()
        #expect(bench.state.count == 0 && bench.store.core.tree.lateEmissions == 2)
        #expect(bench.complaints.count == 1)
        let complaint = try #require(bench.complaints.first)
        #expect(
            complaint.hasPrefix("/: dropped what an effect of ReactorCoreTests/EffectRoomTests"))
        #expect(complaint.contains(".swift:\(Leaker.line) emitted after its return"))
        // By contract, later emissions of a cancelled effect are dropped silently.
        try bench.send(.leakAndWait)
        try bench.send(.cancel)
        leak.all.last?.callAsFunction(.came)
        bench.settle()
        #expect(bench.state.count == 0 && bench.store.core.tree.lateEmissions == 3)
        #expect(bench.complaints.count == 1 && leak.all.count == 2)
    }
}

/// Exposes the emitters of its effects.
@Reactor
private struct Leaker {
    let leak: Kept<Emit<Mutation>>
    static let line: UInt = #line

    enum Action: Equatable, Sendable {
        case leak
        case leakAndWait
        case cancel
    }
    enum Mutation: Equatable, Sendable { case came }
    struct State: Equatable, Sendable { var count = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .leak:
            .none.effect(Effect(line: Self.line) { [leak] emit in leak.keep(emit) })
        case .leakAndWait:
            .none.effect(
                Effect(cancelID: "wait") { [leak] emit in
                    leak.keep(emit)
                    try await emit.clock.sleep(for: .seconds(1))
                })
        case .cancel: .none.cancelling("wait")
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}
