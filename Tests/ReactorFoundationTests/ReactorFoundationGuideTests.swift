import FoundationEssentials
import ReactorClient
import ReactorCore
import ReactorFoundation
import ReactorTesting
import ReactorWire
import Testing

@Reactor
struct Reminders {
    enum Action {
        case add(UUID, Entry)
        case postpone(id: UUID, to: Date)
    }

    @WireCodable
    struct Entry: Equatable {
        var due: Date
        var page: URL?
        var price: Decimal = 0
        var icon = Data()
    }

    struct State {
        var entries: Keyed<UUID, Entry> = [:]
        var due: Date?
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Action> {
        if case .postpone(let id, _) = action, state.entries[id] == nil {
            throw Rejection("unknown", "no reminder \(id)")
        }
        return [action]
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .add(let id, let entry): state.entries[id] = entry
        case .postpone(let id, let date): state.entries[id]?.due = date
        }
        state.due = state.entries.map(\.value.due).min()
    }
}

/// The code of the guide "Foundation's types" compiles and does what the guide says.
@Suite("The guide to Foundation's types", .timeLimit(.minutes(10)))
struct ReactorFoundationGuideTests {
    private let due = Date(timeIntervalSince1970: 1_795_478_400.25)

    private func id() throws -> UUID {
        try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    }

    @Test("a reactor with dates, identifiers and URLs is mirrored with their last bits")
    func mirrored() throws {
        let daemon = TestDaemon(Reminders())
        let ann = daemon.connect()
        let bob = daemon.connect()
        let shown = try bob.mirror(Reminders.self)
        let entry = Reminders.Entry(
            due: due, page: URL(string: "https://example.org/ü"), price: Decimal(12.5),
            icon: Data([0, 1, 2]))
        _ = try ann.dispatch(Reminders.Action.add(id(), entry))
        #expect(shown.state.due == due)
        #expect(try shown.state.entries[id()] == entry)
        #expect(daemon.state(of: Reminders.self)?.due == due)

        let later = Date(timeIntervalSinceReferenceDate: 0.1)
        _ = try ann.dispatch(Reminders.Action.postpone(id: id(), to: later))
        #expect(shown.state.due == later)
    }

    @Test("a client without the types reads and writes the stated forms")
    func values() throws {
        let daemon = TestDaemon(Reminders())
        let client = daemon.connect()
        let action = try WireValue(
            json: #"""
                {"add":["e621e1f8-c36c-495a-93fc-0c247a3e6e5f",
                {"due":1795478400,"page":"https://example.org","price":"12.50"}]}
                """#)
        _ = try client.dispatch(action)
        let value = try client.get("/")
        #expect(value?["due"] == .integer(1_795_478_400))
        #expect(
            value?["entries"]?.json()
                == #"{"e621e1f8-c36c-495a-93fc-0c247a3e6e5f":{"due":1795478400,"#
                + #""icon":{"$bytes":""},"page":"https://example.org","price":"12.5"}}"#)
    }

    @Test("an action with a date that is not finite is refused, and changes nothing")
    func refused() throws {
        let daemon = TestDaemon(Reminders())
        let client = daemon.connect()
        let entry = Reminders.Entry(due: Date(timeIntervalSince1970: .nan))
        let outcome = try client.dispatch(Reminders.Action.add(id(), entry))
        #expect("\(outcome)".contains("a date within 2^62 seconds of 2001"))
        #expect(daemon.state(of: Reminders.self)?.entries.isEmpty == true)
    }
}
