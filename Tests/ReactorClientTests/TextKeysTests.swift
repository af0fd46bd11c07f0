import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

/// A root whose runs have names.
@Reactor
private struct Catalogue {
    @Children var runs = { (_: String) in Run() }

    enum Action { case open([String]) }
    enum Mutation { case opened }
    struct State { var changes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let names): names.reduce(Mutations(.opened)) { $0.creating($runs, $1) }
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

@Suite("Collections with keys of type String", .timeLimit(.minutes(10)))
struct TextKeysTests {
    private static let path = ReactorPath(Catalogue.self)

    private func catalogue(_ names: [String]) async throws -> (LiveServer, Client) {
        let server = try LiveServer(Catalogue())
        let client = try await Client.connect(to: server.path, options: .brisk)
        _ = try await client.dispatch("/", Catalogue.Action.open(names))
        return (server, client)
    }

    @Test("a program follows a collection by its property, and reads and sends by text")
    func following() async throws {
        let (server, client) = try await catalogue(["web", "über", "app"])
        let runs = try await client.collection(\.$runs, of: Self.path)
        #expect(Array(runs.keys) == ["app", "web", "über"])
        let outcome = try await runs.dispatch("web", .advance(to: 4))
        #expect(outcome.revision == runs.revision && runs["web"]?.progress == 4)
        #expect(runs["webs"] == nil && runs.states["über"] == Run.State())
        #expect(runs.first(2) { $0.key > $1.key }.elements.map(\.key) == ["über", "web"])
        let named = try await client.collection(Run.self, keys: String.self, at: "/runs")
        #expect(named === runs)
        var changes = runs.changes.makeAsyncIterator()
        #expect(await changes.next()?.map(\.key) == ["app", "web", "über"])
        _ = try await client.dispatch("/", Catalogue.Action.open(["log"]))
        #expect(await changes.next() == [.inserted("log", Run.State())])
        client.close()
        server.stop()
    }

    @Test("the daemon selects children by a condition, a range of names and an order")
    func selecting() async throws {
        let (server, client) = try await catalogue(["web", "über", "app"])
        let busy = try await client.collection(\.$runs, of: Self.path, where: \.progress > 3)
        #expect(busy.count == 0)
        let from = try await client.collection(
            \.$runs, of: Self.path, in: .between("b", nil as String?))
        #expect(Array(from.keys) == ["web", "über"])
        _ = try await from.dispatch("über", .advance(to: 9))
        _ = try await from.dispatch("web", .advance(to: 5))
        #expect(Array(busy.keys) == ["web", "über"] && busy["über"]?.progress == 9)
        let first = try await client.collection(
            \.$runs, of: Self.path, order: .descending(\.progress), first: 2)
        #expect(first.states.map(\.key) == ["über", "web"])
        client.close()
        server.stop()
    }

    @Test("two names that differ only in their Unicode form are two children")
    func unicode() throws {
        let names = ["\u{e9}", "e\u{301}"]
        let (rig, writer) = try Rig.portfolio(names)
        let reader = rig.client()
        let runs: MirrorCollection<String, Run> = try reader.collect(rig).get()
        #expect(runs.count == 2 && names[0] == names[1])
        try rig.advance(names[1], to: 5, by: writer)
        #expect(runs[names[0]]?.progress == 0 && runs[names[1]]?.progress == 5)
        withExtendedLifetime(reader) {}
    }
}
