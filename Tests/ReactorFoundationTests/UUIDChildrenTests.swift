import FoundationEssentials
import ReactorClient
import ReactorCore
import ReactorFoundation
import ReactorTesting
import Testing

@Reactor
private struct Room {
    enum Action { case enter(UUID) }
    struct State: Equatable { var guests: [UUID] = [] }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .enter(let guest): state.guests.append(guest)
        }
    }
}

@Reactor
private struct House {
    @Children var rooms = { (_: UUID) in Room() }

    enum Action {
        case build(UUID)
        case invite(guest: UUID, to: UUID)
    }
    enum Mutation { case built }
    struct State: Equatable { var count = 0 }

    func mutate(action: Action) -> Mutations<Mutation> {
        switch action {
        case .build(let room): Mutations(.built).creating($rooms, room)
        case .invite(let guest, let room): Mutations.none.sending(.enter(guest), to: $rooms[room])
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}

@Suite("Children under UUIDs")
struct UUIDChildrenTests {
    @Test("a decision, a path and a restart find the child, whose key is in lower case")
    func children() throws {
        let room = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        let guest = try #require(UUID(uuidString: "00000000-0000-0000-0000-0000000000AA"))
        let daemon = TestDaemon(House())
        let client = daemon.connect()
        let built = try client.dispatch(House.Action.build(room), to: "/")
        #expect(built.revision != nil)
        #expect(try client.dispatch(House.Action.build(room), to: "/").revision == nil)
        _ = try client.dispatch(House.Action.invite(guest: guest, to: room), to: "/")
        let path = ReactorPath(House.self).child(\.$rooms, room)
        #expect("\(path.path)" == "/rooms/e621e1f8-c36c-495a-93fc-0c247a3e6e5f")
        #expect(daemon.state(of: Room.self, at: "\(path.path)") == Room.State(guests: [guest]))
        let unknown = try client.dispatch(House.Action.invite(guest: guest, to: guest), to: "/")
        #expect(unknown.revision == nil)
        try daemon.restart()
        #expect(daemon.state(of: Room.self, at: "\(path.path)") == Room.State(guests: [guest]))
    }
}
