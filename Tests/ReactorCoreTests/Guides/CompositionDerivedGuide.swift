import ReactorCore

// The code of the guide on composition about derived values and randomness, line for line.

@WireCodable
struct Fill: DerivedTotal {
    var full = 0
    var empty = 0

    mutating func add(_ count: Int) { change(count, by: 1) }

    mutating func remove(_ count: Int) { change(count, by: -1) }

    private mutating func change(_ count: Int, by amount: Int) {
        if count >= 100 { full += amount }
        if count == 0 { empty += amount }
    }
}

@Reactor
struct Stockroom {
    @Children var bins = { (_: WireKey) in Bin() }
    /// Full and empty bins.
    @Derived var fill = Derivation(Fill.self, over: \Stockroom.$bins) { $0.count }
    @Derived var total = Derivation.sum(over: \Stockroom.$bins) { $0.count }
    @Derived var isFull = Derivation(of: \Stockroom.$total) { state, total in
        total >= state.limit
    }
    @Derived var label = Derivation { (state: State) in "at most \(state.limit)" }

    enum Action {
        case open(WireKey)
        case store(WireKey, Int)
        case audit
    }
    enum Mutation { case audited(WireKey) }
    struct State: Equatable {
        var limit = 1_000
        var audited: [WireKey] = []
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let bin): return Mutations.none.creating($bins, bin)
        case .store(let bin, let amount):
            guard !context.value(of: $isFull) else { throw Rejection("full", "the room is full") }
            return Mutations.none.also($bins, bin, .added(amount))
        case .audit:
            var random = context.random
            let bin = context.keys(of: $bins).randomElement(using: &random)
            return bin.map { [.audited($0)] } ?? .none
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .audited(let bin): state.audited.append(bin)
        }
    }
}
