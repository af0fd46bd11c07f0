import ReactorCore

// The code of the guide on composition, section "Reading descendants", line for line.

@Reactor
struct Chair {
    enum Action {
        case take
        case swap(with: Int)
    }
    enum Mutation {
        case taken(row: Int?, number: Int?)
        case left
    }
    struct State: Equatable { var label = "" }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        switch action {
        case .take:
            context.dispatch(.count, toNearest: Cinema.self)
            return [.taken(row: context.key(in: \Cinema.$rows), number: context.key())]
        case .swap(let number):
            context.dispatch(.take, toNearest: Bench.self) { $0.$seats[number] }
            return [.left]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .taken(let row, let number): state.label = "row \(row ?? 0), seat \(number ?? 0)"
        case .left: state.label = ""
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
        @WireInternal case count
    }
    enum Mutation {
        case checked(String)
        case counted
    }
    struct State: Equatable {
        var answer = ""
        var taken = 0
    }

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
        case .count: return [.counted]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .checked(let answer): state.answer = answer
        case .counted: state.taken += 1
        }
    }
}
