import ReactorCore

// The code of the guide on composition, line for line.

@Reactor
struct Bin {
    enum Action { case add(Int) }
    enum Mutation { case added(Int) }
    struct State: Equatable { var count = 0 }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount):
            guard state.count + amount >= 0 else {
                throw Rejection("too_few", "there are \(state.count)")
            }
            return [.added(amount)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.count += amount
        }
    }
}

@Reactor
struct Warehouse {
    @Child var total = Bin()
    @Children var bins = { (_: WireKey) in Bin() }

    enum Action {
        case open(WireKey)
        case store(WireKey, Int)
        case close(WireKey)
        case restock(WireKey)
        case move(from: WireKey, to: WireKey, amount: Int)
    }
    enum Mutation { case noted(String) }
    struct State: Equatable { var notes: [String] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let bin): return Mutations.none.creating($bins, bin)
        case .store(let bin, let amount):
            return Mutations(.noted("stored \(amount) in \(bin)"))
                .also($bins, bin, .added(amount))
        case .close(let bin):
            guard context.state(of: $bins, bin)?.count == 0 else {
                throw Rejection("not_empty", "empty the bin first")
            }
            return Mutations.none.removing($bins, bin)
        case .restock(let bin):
            context.dispatch(.store(bin, 10))
            return .none
        case .move(let from, let to, let amount):
            return Mutations(.noted("moved \(amount)"))
                .sending(.add(-amount), to: $bins[from])
                .sending(.add(amount), to: $bins[to])
        }
    }

    @Reacts(to: \Warehouse.$bins)
    func changed(_ mutation: Bin.Mutation, key: WireKey) -> Mutations<Mutation> {
        guard case .added(let amount) = mutation else { return .none }
        return Mutations.none.also($total, .added(amount))
    }

    func childrenChanged(
        _ change: ChildrenChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        guard let bin = change.removed(in: $bins) else { return .none }
        return [.noted("closed \(bin)")]
    }

    func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.noted("\(refusal.path): \(refusal.rejection.code)")]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let text): state.notes.append(text)
        }
    }
}
