import ReactorCore
import StockReactors

/// A root with two counters as children.
@Reactor
struct House {
    @Child var visits = StockReactors.Counter()
    @Child var other = StockReactors.Counter()

    enum Action { case nothing }
    enum Mutation { case nothing }
    struct State { var name = "house" }

    var initialState: State { State() }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> { .none }

    func reduce(state: inout State, mutation: Mutation) {}
}
