import ReactorCore
import Testing

// The code of the guide on effects, line for line.

@Reactor
struct Search {
    enum Action: Equatable {
        case find(String)
        case stop
        case watch
        case unwatch
    }
    enum Mutation: Equatable {
        case searching
        case found([String])
        case failed(String)
        case ticked
    }
    struct State: Equatable {
        var isSearching = false
        var results: [String] = []
        var problem: String?
        var ticks = 0
    }

    let index: @Sendable (String) async throws -> [String]

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .find(let text):
            let find = Effect<Mutation>(cancelID: "find", deadline: .seconds(10)) { [index] emit in
                try await emit.clock.sleep(for: .milliseconds(300))
                emit(.found(try await index(text)))
            }
            return Mutations(
                sync: [.searching], async: find.until { (action: Action) in action == .stop })
        case .stop: return [.found([])]
        case .watch: return .none.effect(.every(.seconds(1), cancelID: "watch") { .ticked })
        case .unwatch: return .none.cancelling("watch")
        }
    }

    func start(state: State) -> Mutations<Mutation> {
        Mutations(async: .after(.seconds(1), .ticked))
    }

    func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        [.failed("\(error)")]
    }

    func shouldCancel(current: Action, upcoming: Action) -> Bool {
        current == .watch && upcoming == .stop
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .searching: state.isSearching = true
        case .found(let results):
            state.isSearching = false
            state.results = results
        case .failed(let problem):
            state.isSearching = false
            state.problem = problem
        case .ticked: state.ticks += 1
        }
    }
}

private struct Offline: Error {}

@Suite("guide: effects")
struct EffectsGuideTests {
    private func bench(
        _ index: @escaping @Sendable (String) async throws -> [String] = { ["about \($0)"] }
    ) -> StoreBench<Search> {
        StoreBench(Search(index: index))
    }

    @Test("F49, F51: the newest search with a name completes, unless it is stopped")
    func search() throws {
        let bench = bench()
        try bench.send(.find("s"))
        bench.advance(by: .milliseconds(200))
        try bench.send(.find("swift"))
        bench.advance(by: .milliseconds(200))
        #expect(bench.state.isSearching)
        bench.advance(by: .milliseconds(100))
        #expect(bench.state.results == ["about swift"])
        try bench.send(.find("c"))
        try bench.send(.stop)
        bench.advance(by: .seconds(1))
        #expect(bench.state.results == [])
    }

    @Test("F18, F48, F50: effects of the start and of each second are ended by name and by rule")
    func ticks() throws {
        let bench = bench()
        bench.advance(by: .seconds(1))
        #expect(bench.state.ticks == 1)
        try bench.send(.watch)
        bench.advance(by: .seconds(2))
        #expect(bench.state.ticks == 3)
        try bench.send(.unwatch)
        bench.advance(by: .seconds(2))
        #expect(bench.state.ticks == 3)
        try bench.send(.watch)
        try bench.send(.stop)
        bench.advance(by: .seconds(2))
        #expect(bench.state.ticks == 3)
    }

    @Test("F19: the reactor handles an effect that throws, and one that takes too long")
    func errors() throws {
        let failing = bench { _ in throw Offline() }
        try failing.send(.find("swift"))
        failing.advance(by: .milliseconds(300))
        #expect(failing.state.problem == "Offline()")
        let endless = bench { _ in
            for await _ in AsyncStream(Int.self, { _ in }) {}
            return []
        }
        try endless.send(.find("swift"))
        endless.advance(by: .seconds(10))
        #expect(endless.state.problem == "the effect has not ended within 10.0 seconds")
        #expect(!endless.state.isSearching)
    }

    @Test("F47: perform returns when the effects of its action have ended")
    func perform() async throws {
        let clock = HandClock()
        let store = Store(Search(index: { ["about \($0)"] }), clock: TreeClock(clock))
        let time = Task {
            // The effects of the start, the search and its deadline sleep.
            while clock.sleeperCount < 3 { await Task.yield() }
            clock.set(HandClock.Instant(offset: .milliseconds(300)))
        }
        try await store.perform(.find("swift"))  // returns when its effects have ended
        await time.value
        #expect(store.state.results == ["about swift"])
    }
}
