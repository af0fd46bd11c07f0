import ReactorCore

// The code of the guide on composition, section "Reading descendants", line for line.

@Reactor
struct Chair {
    enum Action { case take }
    enum Mutation { case taken(row: Int?, number: Int?) }
    struct State: Equatable { var label = "" }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.taken(row: context.key(in: \Cinema.$rows), number: context.key())]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .taken(let row, let number): state.label = "row \(row ?? 0), seat \(number ?? 0)"
        }
    }
}

@Reactor
struct Bench {
    @Children var seats = { (_: Int) in Chair() }

    enum Action { case add(Int) }
    struct State: Equatable {}

    func mutate(action: Action) -> Mutations<Action> {
        switch action {
        case .add(let seat): Mutations.none.creating($seats, seat)
        }
    }
}

@Reactor
struct Cinema {
    @Children var rows = { (_: Int) in Bench() }

    enum Action {
        case add(Int)
        case check(row: Int, seat: Int)
    }
    enum Mutation { case checked(String) }
    struct State: Equatable { var answer = "" }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let row): return Mutations.none.creating($rows, row)
        case .check(let row, let number):
            guard let seat = context.state(of: $rows[row].$seats[number]) else {
                throw Rejection("no_seat", "row \(row) has no seat \(number)")
            }
            return [.checked(seat.label)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .checked(let answer): state.answer = answer
        }
    }
}
