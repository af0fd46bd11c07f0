import ReactorClient
import ReactorCore
import ReactorDaemon
import ReactorDaemonCommand
import Testing

// The code of the README, line for line; another test compares the two.

@Reactor
struct Tally {
    enum Action { case add(Int) }
    enum Mutation { case added(Int) }
    struct State { var total = 0 }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount):
            guard amount > 0 else { throw Rejection("not_positive", "add a positive number") }
            return [.added(amount)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.total += amount
        }
    }
}

struct TallyDaemon: DaemonCommand {
    static var reactors: DaemonReactors {
        var catalog = ReactorCatalog.stock
        catalog.register("tally") { _ in Tally() }
        return .configured(catalog)
    }
}

/// The README's use of the reactor, with a running daemon.
private func readme() async throws -> (DispatchOutcome<NoReply>, Int) {
    let client = try await Client.connect(to: .daemon("tally-daemon"))
    let tally = try await client.mirror(Tally.self, at: "/tally")
    let outcome = await tally.dispatch(.add(5))  // the mirror already shows it
    let total = tally.state.total  // memory, no I/O
    return (outcome, total)
}

@Suite("the README's reactor", .timeLimit(.minutes(10)))
struct ReadmeTests {
    @Test("the reactor is served and mirrored, and refuses as its author defined")
    func works() async throws {
        let server = try LiveServer(ReactorGroup([("tally", Tally())]))
        let client = try await Client.connect(to: server.path)
        let tally = try await client.mirror(Tally.self, at: "/tally")
        guard case .applied = await tally.dispatch(.add(5)) else {
            Issue.record("the action was not applied")
            return
        }
        #expect(tally.state.total == 5)
        guard case .rejected(let rejection) = await tally.dispatch(.add(0)) else {
            Issue.record("the action was not rejected")
            return
        }
        #expect(rejection.code == "not_positive")
        client.close()
    }

    @Test("the README's daemon mounts it at the configured path, beside the ready-made kinds")
    func daemon() throws {
        guard case .configured(let catalog) = TallyDaemon.reactors else {
            Issue.record("the daemon's reactors are in its code")
            return
        }
        let config = try DaemonConfig(
            yaml: "reactors: { tally: { kind: tally }, visits: { kind: counter } }", file: "r.yaml")
        #expect(try config.root(from: catalog).members.map(\.name) == ["tally", "visits"])
    }
}
