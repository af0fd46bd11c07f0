import ReactorCore
import ReactorWire

/// A small reactor with every shape of the wire format; the fuzzed clients act on it.
struct Slate: Reactor {
    /// An action of a client.
    @WireCodable
    enum Action {
        case add(by: Int)
        case put(key: String, value: WireValue)
        case move(Int, Int)
        case refuse
        case clear
    }

    /// A change of the slate.
    @WireCodable
    enum Mutation {
        case added(Int)
        case put(key: String, value: WireValue)
        case cleared
    }

    /// The content of the slate.
    @WireCodable
    struct State {
        var sum: Int = 0
        var entries: [String: WireValue] = [:]
    }

    let initialState = State()

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let by): [.added(by)]
        case .put(let key, let value): [.put(key: key, value: value)]
        case .move(let from, let to): [.added(from), .added(to)]
        case .refuse: throw Rejection("refused", "as was asked for")
        case .clear: [.cleared]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let by): state.sum &+= by
        case .put(let key, let value): state.entries[key] = value
        case .cleared: state = State()
        }
    }
}
