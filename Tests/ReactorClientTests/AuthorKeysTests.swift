import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

private enum Floor: Int, ChildKey {
    case cellar = -1
    case ground
    case roof = 10
}

private struct JobID: RawRepresentable, KeyedKey { var rawValue: UInt64 }

/// A root whose children have keys of the author's types.
@Reactor
private struct Depot {
    @Children var floors = { (_: Floor) in Run() }
    @Children var jobs = { (_: JobID) in Run() }

    enum Action { case open(floor: Int, job: UInt64) }
    enum Mutation { case opened }
    struct State { var changes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let floor, let job):
            guard let floor = Floor(rawValue: floor) else { throw Rejection("none", "no floor") }
            return Mutations(.opened).creating($floors, floor)
                .creating($jobs, JobID(rawValue: job))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

@Suite("Collections with keys of an author's type", .timeLimit(.minutes(10)))
struct AuthorKeysTests {
    @Test("an enum and an identifier order, find and bound the children")
    func keys() async throws {
        let server = try LiveServer(Depot())
        let client = try await Client.connect(to: server.path, options: .brisk)
        for (floor, job) in [(10, UInt64.max), (-1, 9), (0, 10)] {
            _ = try await client.dispatch("/", Depot.Action.open(floor: floor, job: job)).get()
        }
        let path = ReactorPath(Depot.self)
        let floors = try await client.collection(\.$floors, of: path)
        #expect(Set(floors.keys) == [.cellar, .ground, .roof])
        let upper = try await client.collection(
            \.$floors, of: path, in: .between(Floor.ground, nil))
        #expect(Array(upper.keys) == [.ground, .roof])
        let jobs = try await client.collection(\.$jobs, of: path)
        #expect(jobs.keys.map(\.rawValue) == [9, 10, .max])
        let outcome = try await jobs.dispatch(JobID(rawValue: 10), .advance(to: 4))
        #expect(outcome.revision != nil && jobs[JobID(rawValue: 10)]?.progress == 4)
        let roof = try await client.mirror(path.child(\.$floors, .roof))
        try await roof.dispatch(.advance(to: 7)).get()
        #expect(floors[.roof]?.progress == 7 && floors[.cellar]?.progress == 0)
        client.close()
        server.stop()
    }
}
