import ReactorCore
import ReactorServer
import StockReactors

/// Counters that it creates and removes by its own decisions, and counters that clients lease.
@Reactor
struct Guesthouse {
    @Children var halls = { (_: WireKey) in StockReactors.Counter() }
    @Children(.leased) var rooms = { (_: WireKey) in StockReactors.Counter() }

    enum Action {
        case open(String)
        case close(String)
        case evict(String)
    }
    enum Mutation { case noted }
    struct State { var changes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let key): Mutations(.noted).creating($halls, WireKey(key))
        case .close(let key): Mutations(.noted).removing($halls, WireKey(key))
        case .evict(let key): Mutations(.noted).removing($rooms, WireKey(key))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

extension Rig {
    /// Number of a guesthouse's rooms.
    var roomCount: Int {
        let path = SlicePath(["rooms"])
        return server.tree.node(at: path)?.children.count ?? -1
    }
}
