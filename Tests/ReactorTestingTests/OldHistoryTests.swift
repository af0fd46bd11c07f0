import Foundation
import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

/// The program of the first release.
private enum Released {
    @WireCodable
    struct Address: Equatable, Sendable {
        var street: String
        var distance: Int
    }

    @Reactor
    struct Courier {
        enum Action: Sendable {
            case go(place: Address)
            case later(place: Address)
        }

        struct State: Equatable, Sendable { var visited: [Address] = [] }

        func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
            guard case .later(let place) = action else { return Mutations(action) }
            return Mutations(action).scheduling(
                "next", after: .seconds(3_600), Action.go(place: place))
        }

        func reduce(state: inout State, mutation: Action) {
            if case .go(let place) = mutation { state.visited.append(place) }
        }
    }

    @Reactor
    struct App {
        @Child var courier = Courier()

        enum Action: Sendable { case greet }
        struct State: Equatable, Sendable { var greetings = 0 }

        func reduce(state: inout State, mutation: Action) { state.greetings += 1 }
    }
}

@WireCodable
private struct Address: Equatable, Sendable {
    static var wireVersion: Int { 2 }

    static var wireMigrations: WireMigrations {
        .from(1) { address in
            try address.rename("street", to: "road")
            try address.convert("distance") { (km: Int) in km * 1_000 }
        }
    }

    var road: String
    var distance: Int
}

@Reactor
private struct Courier {
    enum Action: Equatable, Sendable {
        static var wireVersion: Int { 2 }

        static var wireMigrations: WireMigrations {
            .from(1) { action in
                action.renameCase("go", to: "visit")
                try action.inCase("visit") { try $0.rename("place", to: "address") }
            }
        }

        case visit(address: Address)
        case later(place: Address)
    }

    struct State: Equatable, Sendable { var visited: [Address] = [] }

    func reduce(state: inout State, mutation: Action) {
        if case .visit(let address) = mutation { state.visited.append(address) }
    }
}

@Reactor
private struct App {
    @Child var courier = Courier()

    enum Action: Sendable { case greet }
    struct State: Equatable, Sendable { var greetings = 0 }

    func reduce(state: inout State, mutation: Action) { state.greetings += 1 }
}

/// Today's program without the steps.
private enum Forgetful {
    @Reactor
    struct Courier {
        @WireCodable
        struct Address: Equatable, Sendable {
            var road: String
            var distance: Int
        }

        enum Action: Sendable { case visit(address: Address) }
        struct State: Equatable, Sendable { var visited: [Address] = [] }

        func reduce(state: inout State, mutation: Action) {}
    }

    @Reactor
    struct App {
        @Child var courier = Courier()

        enum Action: Sendable { case greet }
        struct State: Equatable, Sendable { var greetings = 0 }

        func reduce(state: inout State, mutation: Action) { state.greetings += 1 }
    }
}

/// The first release with another `reduce`.
private enum Recounting {
    @Reactor
    struct App {
        @Child var courier = Released.Courier()

        enum Action: Sendable { case greet }
        struct State: Equatable, Sendable { var greetings = 0 }

        func reduce(state: inout State, mutation: Action) { state.greetings += 2 }
    }
}

@Suite("Histories of earlier versions", .timeLimit(.minutes(10)))
struct OldHistoryTests {
    private static let home = FileManager.default.temporaryDirectory.path + "/"

    /// Runs the first release on a new directory, which `body` gets after the daemon has stopped.
    private func withReleased(_ body: (_ directory: String) throws -> Void) async throws {
        let directory = Self.home + "released-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let daemon = try LiveDaemon(Released.App(), keeping: directory)
        let client = try await Client.connect(to: daemon.path)
        for action in [
            Released.Courier.Action.go(place: .init(street: "A", distance: 1)),
            .later(place: .init(street: "B", distance: 2)),
        ] {
            let outcome = try await client.dispatch("/courier", action)
            #expect(outcome.revision != nil)
        }
        _ = try await client.dispatch("/", Released.App.Action.greet)
        client.close()
        daemon.stop()
        try body(directory)
    }

    @Test("one call reads an old directory with today's types: states, plans, and differences")
    func read() async throws {
        try await withReleased { directory in
            let before = try Self.contents(of: directory)
            let old = try OldHistory(in: directory, of: App())
            let state = try old.state(of: Courier.self, at: "/courier")
            let changes = old.changes.filter { !$0.isFine }
            #expect(state.visited == [Address(road: "A", distance: 1_000)])
            #expect(
                try old.plannedActions(of: Courier.self, at: "/courier")
                    == ["next": .visit(address: Address(road: "B", distance: 2_000))])
            #expect(changes.isEmpty, "\(changes)")
            #expect(old.changes.contains { $0.description.contains("converted to version 2") })
            #expect(old.revision.sequence == 3)
            #expect(old.value["greetings"] == 1 && old.value["courier"]?["visited"]?[0] != nil)
            #expect(try Self.contents(of: directory) == before)
            let error = #expect(throws: OldHistoryError.self) {
                try old.state(of: App.self, at: "/x")
            }
            #expect(error?.description == "/x: expected a App, got no reactor")
        }
    }

    @Test("everything that cannot be read is in the error")
    func unreadable() async throws {
        try await withReleased { directory in
            let error = #expect(throws: OldHistoryError.self) {
                try OldHistory(in: directory, of: Forgetful.App())
            }
            let problems = error?.problems ?? []
            #expect(problems.contains { $0.hasPrefix("/courier: the state of Courier") })
            #expect(problems.contains { $0.hasPrefix("/courier: 1 plan of the action \"go\"") })
            #expect(
                problems.contains { $0.hasPrefix("replayed from the first row, /courier: a mut") })
        }
    }

    @Test("a replay of all rows that leads to another state than the snapshot is an error")
    func diverging() async throws {
        try await withReleased { directory in
            let error = #expect(throws: OldHistoryError.self) {
                try OldHistory(in: directory, of: Recounting.App())
            }
            #expect(
                error?.problems == [
                    #"/: the snapshot leads to {"greetings":1}, and a replay of all rows to "#
                        + #"{"greetings":2}"#
                ])
        }
    }

    @Test("a directory without a history is an error")
    func missing() {
        #expect(throws: (any Error).self) {
            try OldHistory(in: Self.home + "none-\(UUID().uuidString)", of: App())
        }
    }

    private static func contents(of directory: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name)))
            })
    }
}
