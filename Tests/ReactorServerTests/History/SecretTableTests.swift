import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// A reactor whose actions, mutations and replies have secrets.
@Reactor
private struct Vault {
    enum Action: Sendable {
        @WireSecret case put(String)
        case look(at: Int)
    }

    @WireCodable
    struct Note: Sendable {
        var id: Int
        @WireSecret var text: String
    }

    typealias Mutation = Note
    typealias Reply = Note

    struct State: Sendable { var notes: [Note] = [] }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Note> { [] }
    func reduce(state: inout State, mutation: Note) { state.notes.append(mutation) }
}

/// A room with a vault, and rooms below it. The macro cannot declare a type that contains itself.
private struct Room: Reactor {
    let vault = Child(wrappedValue: Vault())
    let rooms: Children<WireKey, Room>

    init() { rooms = Children(wrappedValue: { _ in Room() }) }

    @WireCodable
    enum Action: Sendable { case enter(String) }
    @WireCodable
    struct State: Sendable { var visitors = 0 }

    var initialState: State { State() }

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> { [action] }
    func reduce(state: inout State, mutation: Action) { state.visitors += 1 }

    func children(_ visitor: inout ChildVisitor) {
        visitor.child("vault", vault)
        visitor.children("rooms", rooms)
    }

    static func childPaths(_ visitor: inout ChildPathVisitor<Room>) {
        visitor.child("vault", \.vault.wrappedValue, \.vault.projectedValue)
        visitor.children("rooms", \.rooms.projectedValue)
    }
}

/// A reactor without secrets.
@Reactor
private struct Door {
    enum Action: Sendable { case open(String) }
    struct State: Sendable { var count = 0 }

    func reduce(state: inout State, mutation: Action) { state.count += 1 }
}

@Suite("SecretTable")
struct SecretTableTests {
    private let table = SecretTable(
        of: Tree(ReactorGroup([("house", Room()), ("door", Door())]), epoch: 1))

    private static let secret = WireValue.text(SecretFields.text)

    private func action(_ value: WireValue, at path: String) throws -> WireValue {
        var entry = LogEntry(time: 0)
        entry.actions = [LogAction(path: path, bytes: value.wireBytes().span)]
        return try shown(entry).actions[0].action.decode(as: WireValue.self)
    }

    private func shown(_ entry: LogEntry) throws -> LogEntry {
        let begin = Revision(epoch: 1, sequence: 0)
        let page = LogPage(
            entries: [entry], position: LogMark(row: 1, skip: 0), isEnd: true, begin: begin)
        return try #require(table.hidden(in: page).entries.first)
    }

    @Test(
        "X118: secrets are hidden at every place of their type, also below children that are gone",
        arguments: [
            "/house/vault", "/house/rooms/a/vault", "/house/rooms/a/rooms/b%2Fc/vault",
        ])
    func places(path: String) throws {
        #expect(try action(["put": "hunter2"], at: path) == ["put": Self.secret])
        let look: WireValue = ["look": ["at": 3]]
        #expect(try action(look, at: path) == look)
    }

    @Test("values of types without secrets are shown")
    func plain() throws {
        for (path, value) in [
            ("/house", ["enter": "ada"]), ("/house/rooms/a", ["enter": "ada"]),
            ("/door", ["open": "ada"]), ("/house/rooms", ["lease": ["key": "ada"]]),
        ] as [(String, WireValue)] {
            #expect(try action(value, at: path) == value, "\(path)")
        }
    }

    @Test(
        "X118: values at places that no type declares are hidden",
        arguments: ["/cellar", "/house/attic", "/house/rooms/a/attic", "?7", "?"])
    func unknown(path: String) throws {
        #expect(try action(["put": "hunter2"], at: path) == Self.secret)
    }

    @Test("X118: bytes that are no value, mutations, replies and errors of decoding are hidden")
    func parts() throws {
        var entry = LogEntry(time: 0)
        entry.actions = [LogAction(path: "/door", bytes: [0xFF, 0x68].span)]
        entry.mutations = [
            LogMutation(
                path: "/house/vault", mutation: WireEmbedded(["id": 1, "text": "x"] as WireValue),
                isStructural: false)
        ]
        #expect(entry.actions[0].isRaw)
        var found = try shown(entry)
        #expect(try found.actions[0].action.decode(as: WireValue.self) == Self.secret)
        #expect(
            try found.mutations[0].mutation.decode(as: WireValue.self)
                == ["id": 1, "text": Self.secret])
        let look = (["look": ["at": 1]] as WireValue).wireBytes()
        entry.actions = [LogAction(path: "/house/vault", bytes: look.span)]
        let reply = WireEmbedded(["id": 2, "text": "y"] as WireValue)
        entry.outcome = .applied(sequence: 4, reply: reply)
        found = try shown(entry)
        let hidden = WireEmbedded(["id": 2, "text": Self.secret] as WireValue)
        #expect(found.outcome == .applied(sequence: 4, reply: hidden))
        entry.outcome = .rejected(code: "DECODE", message: "expected a bool, got hunter2")
        #expect(try shown(entry).outcome == .rejected(code: "DECODE", message: "(secret)"))
        entry.outcome = .rejected(code: "full", message: "no room")
        #expect(try shown(entry).outcome == entry.outcome)
    }

    @Test("a tree without secrets shows everything, also at places that no type declares")
    func none() throws {
        let table = SecretTable(of: Tree(ReactorGroup([("door", Door())]), epoch: 1))
        #expect(!table.hasSecrets)
        var entry = LogEntry(time: 0)
        entry.actions = [LogAction(path: "/gone", bytes: [0xFF].span)]
        let page = LogPage(
            entries: [entry], position: LogMark(row: 1, skip: 0), isEnd: true,
            begin: Revision(epoch: 1, sequence: 0))
        #expect(table.hidden(in: page) == page)
    }
}
