import Testing

@testable import ReactorCore

/// Starts effects with and without names.
@Reactor
struct Sleeper {
    enum Action: Equatable, Sendable {
        case nap(String)
        case doze
        case wake(String)
    }

    enum Mutation: Equatable, Sendable { case woken }
    struct State: Equatable, Sendable { var wakes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .nap(let name): Mutations(async: .after(.seconds(1), cancelID: name, .woken))
        case .doze: Mutations(async: .after(.seconds(1), .woken))
        case .wake(let name): Mutations.none.cancelling(name)
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.wakes += 1 }
}

@Suite("Effects under way")
struct EffectListingTests {
    @Test("each effect is listed with its reactor, name and transaction until it ends, in order")
    func list() throws {
        let world = ManualWorld()
        let tree = Tree(Sleeper(), epoch: 1, environment: world.environment)
        try tree.send(Sleeper.Action.nap("a"))
        try tree.send(Sleeper.Action.doze)
        try tree.send(Sleeper.Action.nap("b"))
        tree.start(tree.turn.effects)
        tree.turn.begin()
        let listed = tree.effectsUnderWay
        #expect(listed.map(\.cancelID) == ["a", nil, "b"])
        #expect(listed.map(\.sequence) == [1, 2, 3])
        #expect(listed.allSatisfy { $0.path == .root && !$0.isSource })
        try tree.send(Sleeper.Action.wake("a"))
        #expect(tree.effectsUnderWay.map(\.cancelID) == [nil, "b"])
    }

    @Test("R101: the roll call lists exactly the dismissed effects that have not ended")
    func rollCall() async throws {
        let world = ManualWorld()
        let tree = Tree(Sleeper(), epoch: 1, environment: world.environment)
        for name in ["a", "b"] { try tree.send(Sleeper.Action.nap(name)) }
        tree.start(tree.turn.takeEffects())
        // An effect cancelled earlier may still run.
        try tree.send(Sleeper.Action.wake("a"))
        try tree.send(Sleeper.Action.doze)
        let call = tree.dismissEffects()
        #expect(tree.effectsUnderWay.isEmpty && tree.effects.orphans.count == 2)
        #expect(world.cancelled == [1, 2])
        #expect(call.missing(in: tree).map(\.cancelID) == [nil, "b"])
        #expect(call.missing(in: tree).allSatisfy { $0.path == .root })
        await world.runEffects()
        world.deliver(to: tree)
        #expect(call.missing(in: tree).isEmpty)
        #expect(tree.dismissEffects().missing(in: tree).isEmpty)
        #expect(try tree.state(of: Sleeper.self).wakes == 0)
    }
}
