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

/// A table under texts.
@Reactor
private struct Register {
    enum Action {
        case set(String, Int)
        case add(String)
        case remove(String)
        case replace(String, Int)
    }
    @ReactorState struct State: Equatable { var entries: Keyed<String, Int> = [:] }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .set(let key, let value): state.entries[key] = value
        case .add(let key): state.entries[key, default: 0] += 1
        case .remove(let key): state.entries.removeValue(forKey: key)
        case .replace(let key, let value):
            state.entries[key] = nil
            state.entries[key] = value
        }
    }
}

/// The value of a selection with an order.
@WireCodable
private struct Selected: Equatable {
    var order: [String]
    var children: [String: Run.State]
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

    @Test("a client without the types gets and follows a selection of children")
    func values() async throws {
        let (server, client) = try await catalogue(["web", "über", "app"])
        let best = Selection(
            filter: .compare(field: ["progress"], by: .greater, with: 3),
            order: [SelectionOrder(field: ["progress"], descending: true)], first: 2)
        var watch = client.watch("/runs", selecting: best).makeAsyncIterator()
        #expect(
            try await watch.next()?.value?.decoded(as: Selected.self)
                == Selected(order: [], children: [:]))
        for (name, progress) in [("web", 4), ("app", 9), ("über", 2), ("über", 5)] {
            _ = try await client.dispatch("/runs/\(name)", Run.Action.advance(to: progress))
        }
        var selected = Selected(order: [], children: [:])
        while selected.order != ["app", "über"] {
            let value = try #require(try await watch.next()).value
            selected = try #require(value).decoded(as: Selected.self)
        }
        #expect(selected.children.mapValues(\.progress) == ["app": 9, "über": 5])
        let got = try await client.get("/runs", selecting: best).value
        #expect(try got?.decoded(as: Selected.self) == selected)
        let named = try await client.get(
            "/runs", selecting: Selection(keys: KeyBounds(from: "b", through: "web"))
        ).value
        #expect(try named?.decoded(as: [String: Run.State].self).keys.sorted() == ["web"])
        await #expect(throws: ClientError.self) {
            try await client.get(
                "/runs", selecting: Selection(order: [SelectionOrder(field: ["prog"])]))
        }
        client.close()
        server.stop()
    }

    @Test("a mirror has the daemon's texts, in whichever Unicode form an action has a key")
    func forms() async throws {
        let server = try LiveServer(Register())
        let client = try await Client.connect(to: server.path, options: .brisk)
        let mirror = try await client.mirror(Register.self, at: "/")
        var watch = client.watch("/entries").makeAsyncIterator()
        let keys = ["\u{e9}", "e\u{301}", "a"]
        // A linear congruential generator, whose high bits are used.
        var number: UInt64 = 11
        for step in 0..<300 {
            number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let key = keys[Int(number >> 33) % keys.count]
            let action: Register.Action =
                switch Int(number >> 40) % 4 {
                case 0: .set(key, step)
                case 1: .add(key)
                case 2: .remove(key)
                default: .replace(key, step)
                }
            try await mirror.dispatch(action).get()
            let value = try #require(try await client.get("/").value)
            let shown = mirror.state.wireBytes()
            #expect(shown == value.wireBytes(), "step \(step): \(action)")
            #expect(try Register.State(wireBytes: shown).wireBytes() == shown)
            for key in keys {
                let one = try await client.get("/entries/\(key)").value
                let isThere = mirror.state.entries.keys.contains {
                    Array($0.utf8) == Array(key.utf8)
                }
                #expect((one != nil) == isThere, "step \(step): \(Array(key.utf8))")
            }
        }
        let last = mirror.state.entries.wireBytes()
        while let next = try await watch.next(), next.value?.wireBytes() != last {}
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
