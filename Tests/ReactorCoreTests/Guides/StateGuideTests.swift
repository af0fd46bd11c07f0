public import ReactorCore
import Testing

// The code of the guide on state, line for line.

@WireCodable
@MemberwiseInit
public struct Entry: Equatable, Sendable {
    public var text: String
    public var author: String?
    public var isRead = false
}

@Reactor
struct Wall {
    enum Action: Equatable {
        case pin(key: WireKey, text: String)
        case unpin(WireKey)
        case ring(String)
        case load
    }
    enum Mutation: Equatable {
        case pinned(key: WireKey, text: String)
        case unpinned(WireKey)
        case rang(String)
        case loading
        case loaded([String])
        case failed(LoadError)
    }

    @ReactorState
    struct State: Equatable {
        var notes: Keyed<WireKey, String> = [:]
        @Pulse var bell: String? = nil
        var archive: AsyncLoad<[String], LoadError> = .none
        @Ignored var visits = 0
        @NotTransmitted var cache: [Int: String] = [:]
    }

    let archive: @Sendable () async throws -> [String]

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .pin(let key, let text): [.pinned(key: key, text: text)]
        case .unpin(let key): [.unpinned(key)]
        case .ring(let text): [.rang(text)]
        case .load:
            Mutations(
                sync: [.loading],
                async: Effect { [archive] emit in emit(.loaded(try await archive())) })
        }
    }

    func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        [.failed(LoadError(error))]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .pinned(let key, let text): state.notes[key] = text
        case .unpinned(let key): state.notes[key] = nil
        case .rang(let text): state.bell = text
        case .loading: state.archive = .loading
        case .loaded(let titles): state.archive = .loaded(titles)
        case .failed(let error): state.archive = .failed(error)
        }
    }
}

private struct Offline: Error {}

@Suite("guide: state")
struct StateGuideTests {
    @Test("F59: a pulse notifies at each assignment, even of an equal value")
    func pulse() throws {
        var rung: [String] = []
        let store = Store(Wall(archive: { [] }))
        try store.dispatch(.ring("early"))
        let token = store.pulse(\.$bell) { bell in rung.append(bell ?? "") }
        try store.dispatch(.ring("tea"))
        try store.dispatch(.pin(key: "a", text: "buy tea"))
        try store.dispatch(.ring("tea"))
        #expect(rung == ["tea", "tea"])
        withExtendedLifetime(token) {}
    }

    @Test("F54: an observer of a part is notified only of changes of that part")
    func part() throws {
        var shown: [Int] = []
        let store = Store(Wall(archive: { [] }))
        let notes = store.scoped(to: \.notes)
        let token = notes.observe { shown.append($0.count) }
        try store.dispatch(.ring("tea"))
        try store.dispatch(.pin(key: "a", text: "buy tea"))
        try store.dispatch(.unpin("a"))
        #expect(shown == [0, 1, 0])
        withExtendedLifetime(token) {}
    }

    @Test("a record is made of its fields, and is read back")
    func record() throws {
        let entry = Entry(text: "buy tea")
        #expect(entry.author == nil && !entry.isRead)
        #expect(try Entry(wireBytes: entry.wireBytes()) == entry)
    }

    @Test("F60: a load is first loading, then loaded or failed")
    func load() async throws {
        let store = Store(Wall(archive: { ["1970"] }))
        try store.dispatch(.load)
        #expect(store.state.archive.isLoading)
        try await store.perform(.load)
        #expect(store.state.archive.item == ["1970"])
        let offline = Store(Wall(archive: { throw Offline() }))
        try await offline.perform(.load)
        #expect(offline.state.archive.failure?.code == "Offline")
    }
}
