import ReactorCore
import StockReactors

/// Counters that are created and removed, their derived sum, and a state that is shown otherwise than
/// it is.
@Reactor
struct Gallery {
    @Children var doors = { (_: WireKey) in Counter() }
    @Derived var passed = Derivation.sum(over: \Gallery.$doors) { $0.count }

    enum Action: Equatable, Sendable {
        case open(name: String)
        case close(name: String)
        case ring
    }

    enum Mutation: Equatable, Sendable {
        case opened(name: String)
        case closed(name: String)
        case rang
    }

    struct State: Equatable, Sendable {
        var names: [String] = []
        var rings = 0
    }

    /// The number of rings that each counts for: daemons of one history must agree on it.
    var loudness = 1

    func transform(state: Transform<State>) -> Transform<State> {
        state.map { State(names: $0.names, rings: $0.rings / 2 * 2) }
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let name):
            guard !state.names.contains(name) else { throw Rejection("open", name) }
            return Mutations(.opened(name: name)).creating($doors, WireKey(name))
        case .close(let name):
            guard state.names.contains(name) else { throw Rejection("closed", name) }
            return Mutations(.closed(name: name)).removing($doors, WireKey(name))
        case .ring: return Mutations(.rang)
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .opened(let name): state.names.append(name)
        case .closed(let name): state.names.removeAll { $0 == name }
        case .rang: state.rings += loudness
        }
    }
}
