import ReactorCore

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
