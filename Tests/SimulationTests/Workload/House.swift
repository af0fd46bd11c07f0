import ReactorCore
import StockReactors

/// A collection of counters that are created and removed.
@Reactor
struct House {
    @Children var rooms = { (_: WireKey) in Counter() }

    enum Action: Equatable, Sendable {
        case build(name: String)
        case tear(name: String)
    }

    enum Mutation: Equatable, Sendable {
        case built(name: String)
        case torn(name: String)
    }

    struct State: Equatable, Sendable {
        /// The names of the existing rooms, in order.
        var names: [String] = []
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .build(let name):
            guard !state.names.contains(name) else { throw Rejection("there", name) }
            return Mutations(.built(name: name)).creating($rooms, WireKey(name))
        case .tear(let name):
            guard state.names.contains(name) else { throw Rejection("not_there", name) }
            return Mutations(.torn(name: name)).removing($rooms, WireKey(name))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .built(let name):
            state.names.append(name)
            state.names.sort()
        case .torn(let name): state.names.removeAll { $0 == name }
        }
    }
}
