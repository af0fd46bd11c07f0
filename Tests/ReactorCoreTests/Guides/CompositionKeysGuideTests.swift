import ReactorCore
import Testing

// The code of the guide on composition, section "Keys of children", line for line.

enum Level: Int, ChildKey {
    case cellar = -1
    case ground
    case first
}

@Reactor
struct Hotel {
    @Children var levels = { (_: Level) in Bin() }
    @Children var rooms = { (_: Int) in Bin() }

    enum Action {
        case build(Level)
        case open(room: Int)
        case list
    }
    enum Mutation { case listed([Int]) }
    struct State: Equatable { var listed: [Int] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .build(let level): return Mutations.none.creating($levels, level)
        case .open(let room): return Mutations.none.creating($rooms, room)
        case .list: return [.listed(context.keys(of: $rooms))]
        }
    }

    @Reacts(to: \Hotel.$rooms)
    func changed(_ mutation: Bin.Mutation, key: Int) -> Mutations<Mutation> {
        Mutations.none.also($levels, key < 100 ? .ground : .first, mutation)
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .listed(let rooms): state.listed = rooms
        }
    }
}

// Actions with a key of the enum are encoded by its raw value.
extension Level: WireCodable {}

@Suite("guide: keys of children")
struct CompositionKeysGuideTests {
    private typealias Action = Hotel.Action

    @Test("keys have the author's type in decisions, reactions, paths and lists")
    func keys() throws {
        let tree = Tree(Hotel(), epoch: 1)
        for level in [Level.ground, .first] { try tree.send(Action.build(level)) }
        for room in [100, 9, 12] { try tree.send(Action.open(room: room)) }
        try tree.send(Bin.Action.add(3), to: "/rooms/9")
        try tree.send(Bin.Action.add(4), to: "\(#path(\Hotel.$rooms).appending(100))")
        #expect(try tree.state(of: Bin.self, "/levels/0").count == 3)
        #expect(try tree.state(of: Bin.self, "/levels/1").count == 4)
        try tree.send(Action.list)
        #expect(try tree.state(of: Hotel.self).listed == [9, 12, 100])
        let path = ReactorPath(Hotel.self).child(\.$rooms, 7).path
        #expect(path.description == "/rooms/7")
    }
}
