import ReactorCore
import Testing

/// Fetches pages; each action starts an effect.
@Reactor
struct Fetcher {
    enum Action: Equatable, Sendable {
        case fetch([String])
        case fail(String)
        case search(String)
        case follow([String])
        case giveUp
    }

    enum Mutation: Equatable, Sendable {
        case began
        case came(String)
    }

    struct State: Equatable, Sendable {
        var pages: [String] = []
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .fetch(let pages):
            Mutations(
                sync: [.began],
                async: Effect { emit in for page in pages { emit(.came(page)) } })
        case .fail(let page):
            Mutations(
                async: Effect { emit in
                    emit(.came(page))
                    throw FetchError.offline
                })
        case .search(let text):
            Mutations(async: Effect(cancelID: "search") { emit in emit(.came(text)) })
        case .follow(let pages):
            Mutations(async: Effect(Self.sequence(of: pages.map(Mutation.came))))
        case .giveUp:
            Mutations(async: Effect { _ in throw CancellationError() })
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .began: state.pages.append("-")
        case .came(let page): state.pages.append(page)
        }
    }

    private static func sequence(of mutations: [Mutation]) -> AsyncStream<Mutation> {
        AsyncStream { continuation in
            for mutation in mutations { continuation.yield(mutation) }
            continuation.finish()
        }
    }
}

enum FetchError: Error { case offline }

/// A reactor with fetchers that are created and removed.
@Reactor
struct Fetchers {
    @Children var all = { (_: WireKey) in Fetcher() }

    enum Action: Equatable, Sendable {
        case open(String)
        case close(String)
    }

    struct State: Equatable, Sendable {}

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Action> {
        switch action {
        case .open(let name): Mutations.none.creating($all, WireKey(name))
        case .close(let name): Mutations.none.removing($all, WireKey(name))
        }
    }
}

@Suite("Effects")
struct EffectTests {
    private let world = ManualWorld()

    /// Commits the turn and starts its effects.
    private func commit(_ tree: Tree) {
        tree.start(tree.turn.effects)
        tree.turn.begin()
    }

    @Test("F12: synchronous mutations are applied at once, asynchronous ones after the commit")
    func syncThenAsync() async throws {
        let tree = Tree(Fetcher(), epoch: 1, environment: world.environment)
        #expect(try tree.send(Fetcher.Action.fetch(["a", "b"])) == "applied 1")
        #expect(try tree.state(of: Fetcher.self).pages == ["-"])
        #expect(world.spawned == 0)
        commit(tree)
        await world.runEffects()
        #expect(try tree.state(of: Fetcher.self).pages == ["-"])
        world.deliver(to: tree)
        #expect(try tree.state(of: Fetcher.self).pages == ["-", "a", "b"])
    }

    @Test("F6: side effects are requested by mutate, and never by reduce")
    func sideEffects() async throws {
        let tree = Tree(Fetcher(), epoch: 1, environment: world.environment)
        let state = try tree.state(of: Fetcher.self)
        let decided = try Fetcher().mutate(action: .fetch(["a"]), state: state)
        #expect(decided.count == 1)
        #expect(try tree.state(of: Fetcher.self) == state)
        #expect(tree.turn.effects.isEmpty)
        try tree.send(Fetcher.Action.fetch(["a"]))
        #expect(tree.turn.effects.count == 1)
        var copy = Fetcher().initialState
        Fetcher().reduce(state: &copy, mutation: .came("a"))
        #expect(tree.turn.effects.count == 1)
        #expect(copy.pages == ["a"])
    }

    @Test("each emission is a revision of its own, with the origin of its action")
    func emissions() async throws {
        let tree = Tree(Fetcher(), epoch: 1, environment: world.environment)
        tree.root.isReplicated = true
        try tree.send(Fetcher.Action.fetch(["a", "b"]), from: 2, ordinal: 9)
        commit(tree)
        await world.runEffects()
        world.deliver(to: tree)
        #expect(tree.revision.sequence == 3)
        #expect(tree.deltas == ["0@2", "0@3"])
        let origins = try tree.turn.changes.map { change in
            try tree.turn.withDeltas { bytes throws(WireError) in
                var cursor = WireCursor(offset: change.start + FrameHeader.byteCount)
                return try Origin.decode(bytes, &cursor)
            }
        }
        #expect(origins == Array(repeating: Origin(client: 102, ordinal: 9), count: 2))
    }

    @Test("F13: an asynchronous sequence is emitted element by element")
    func sequence() async throws {
        let tree = Tree(Fetcher(), epoch: 1, environment: world.environment)
        try tree.send(Fetcher.Action.follow(["a", "b", "c"]))
        commit(tree)
        await world.runEffects()
        world.deliver(to: tree)
        #expect(try tree.state(of: Fetcher.self).pages == ["a", "b", "c"])
        #expect(tree.revision.sequence == 4)
    }

    @Test(
        "F14: an effect that throws is reported to its caller; its emissions and other work stay")
    func failure() async throws {
        let tree = Tree(Fetcher(), epoch: 1, environment: world.environment)
        try tree.send(Fetcher.Action.fail("a"), from: 1, ordinal: 4)
        commit(tree)
        await world.runEffects()
        world.deliver(to: tree)
        #expect(
            tree.turn.failures
                == [
                    LateFailure(
                        origin: Origin(client: 101, ordinal: 4),
                        code: LateFailure.effectFailedCode, message: "offline")
                ])
        #expect(try tree.state(of: Fetcher.self).pages == ["a"])
        #expect(try tree.send(Fetcher.Action.fetch([])) == "applied 3")
    }

    @Test("cancellation is not a failure")
    func cancellation() async throws {
        let tree = Tree(Fetcher(), epoch: 1, environment: world.environment)
        try tree.send(Fetcher.Action.giveUp)
        commit(tree)
        await world.runEffects()
        world.deliver(to: tree)
        #expect(tree.turn.failures.isEmpty)
    }

    @Test("R103: a later effect with the same name cancels the earlier one and drops its emissions")
    func cancelID() async throws {
        let tree = Tree(Fetcher(), epoch: 1, environment: world.environment)
        try tree.send(Fetcher.Action.search("old"))
        commit(tree)
        await world.runEffects()
        try tree.send(Fetcher.Action.search("new"))
        commit(tree)
        #expect(world.cancelled == [1])
        await world.runEffects()
        world.deliver(to: tree)
        #expect(try tree.state(of: Fetcher.self).pages == ["new"])
        #expect(tree.revision.sequence == 3)
    }

    @Test("R102: late emissions for a removed child are dropped, also if it was created again")
    func lateEmission() async throws {
        let tree = Tree(Fetchers(), epoch: 1, environment: world.environment)
        try tree.send(Fetchers.Action.open("a"))
        try tree.send(Fetcher.Action.fetch(["late"]), to: "/all/a")
        commit(tree)
        await world.runEffects()
        try tree.send(Fetchers.Action.close("a"))
        try tree.send(Fetchers.Action.open("a"))
        world.deliver(to: tree)
        #expect(world.cancelled == [1])
        #expect(try tree.state(of: Fetcher.self, "/all/a").pages.isEmpty)
        #expect(tree.revision.sequence == 4)
    }

    @Test("R102: an effect of a child removed before the commit does not start")
    func neverStarts() throws {
        let tree = Tree(Fetchers(), epoch: 1, environment: world.environment)
        try tree.send(Fetchers.Action.open("a"))
        try tree.send(Fetcher.Action.fetch(["late"]), to: "/all/a")
        try tree.send(Fetchers.Action.close("a"))
        commit(tree)
        #expect(world.spawned == 0)
    }

    @Test("R101: an action that requests more effects than the limit is refused")
    func effectsMax() throws {
        let tree = Tree(Fetcher(), epoch: 1, environment: world.environment)
        tree.effectsMax = 100
        for _ in 0..<100 { try tree.send(Fetcher.Action.fetch([])) }
        #expect(try tree.send(Fetcher.Action.fetch([])) == "rejected BUSY")
        let effects = tree.turn.effects
        tree.start(effects)
        #expect(world.spawned == 100)
        #expect(try tree.state(of: Fetcher.self).pages.count == 100)
        #expect(tree.turn.complaints.isEmpty)
    }

    @Test("a released tree cancels its running effects")
    func treeEnds() throws {
        do {
            let tree = Tree(Fetcher(), epoch: 1, environment: world.environment)
            try tree.send(Fetcher.Action.fetch(["a"]))
            commit(tree)
        }
        #expect(world.cancelled == [1])
    }

    @Test("an effect requested in a refused batch does not start")
    func batch() throws {
        let tree = Tree(
            ReactorGroup([("fetcher", Fetcher()), ("tally", Tally())]), epoch: 1,
            environment: world.environment)
        let outcome = try tree.sendTogether([
            ("/fetcher", Fetcher.Action.fetch(["a"])), ("/tally", Tally.Action.refuse),
        ])
        #expect(outcome == "rejected refused")
        #expect(tree.turn.effects.isEmpty)
    }

    @Test("without an environment effects are dropped")
    func inert() throws {
        let tree = Tree(Fetcher(), epoch: 1)
        try tree.send(Fetcher.Action.fetch(["a"]))
        commit(tree)
        #expect(try tree.state(of: Fetcher.self).pages == ["-"])
    }
}
