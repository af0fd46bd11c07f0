import ReactorCore
import StockReactors

/// Two counters that a parent keeps opposed.
@Reactor
struct Cell {
    @Child var left = Counter()
    @Child var right = Counter()

    enum Action: Equatable, Sendable {
        case stir(by: Int64)
        case stirLater(after: Int64)
    }

    enum Mutation: Equatable, Sendable {
        case stirred(by: Int64)
        case echoed
    }

    struct State: Equatable, Sendable {
        var stirs: Int64 = 0
        var echoes = 0
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .stir(let amount):
            Mutations(.stirred(by: amount)).also($left, .added(amount)).also(
                $right, .added(-amount))
        case .stirLater(let milliseconds):
            Mutations.none.scheduling(
                "stir", after: .milliseconds(milliseconds), Action.stir(by: 1))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .stirred(let amount): state.stirs += amount
        case .echoed: state.echoes += 1
        }
    }

    // A reaction that changes its own cause is hard to replay.
    @Reacts(to: \Cell.$left)
    func leftChanged(_ mutation: Counter.Mutation) -> Mutations<Mutation> {
        guard case .added(let amount) = mutation, amount % 2 != 0 else { return .none }
        return Mutations(.echoed).also($left, .added(2)).also($right, .added(-2))
    }
}

/// Everything that is hard to recover: dynamic children with children of their own, leases,
/// claims, late replies, promises, reactions, followers, and rejections.
@Reactor
struct Nest {
    @Children var cells = { (_: WireKey) in Cell() }
    @Children(.leased) var rooms = { (_: WireKey) in Cell() }
    @Child var tally = Counter()

    typealias Reply = Int

    enum Action: Equatable, Sendable {
        case hatch(name: String)
        case fell(name: String)
        case swap(name: String)
        case clear(room: String)
        case stirAll(by: Int64)
        case follow(name: String, by: Int64)
        case wait
        case serve
        case take
        case give
        case exchange(value: Int)
        case promise(token: Int)
        case plan(token: Int, after: Int64)
        case come(token: Int)
        case refuse
    }

    enum Mutation: Equatable, Sendable {
        case hatched(name: String)
        case fell(name: String)
        case cleared
        case stirred
        case queued(ticket: ReplyTicket)
        case served
        case taken(connection: UInt64)
        case given(connection: UInt64)
        case exchanged(value: Int)
        case owed(token: Int)
        case kept(token: Int)
    }

    struct State: Equatable, Sendable {
        var names: [String] = []
        var waiting: [ReplyTicket] = []
        var holders: [UInt64] = []
        var value = 0
        var steps = 0
        /// Promised and planned numbers that have not arrived.
        var owed: [Int] = []
        /// Number of arrivals that were not promised, or arrived twice.
        var strayCount = 0
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .hatch(let name):
            guard !state.names.contains(name) else { throw Rejection("there", name) }
            return Mutations(.hatched(name: name)).creating($cells, WireKey(name))
        case .fell(let name):
            try check(name, state)
            return Mutations(.fell(name: name)).removing($cells, WireKey(name))
        case .swap(let name):
            try check(name, state)
            let key = WireKey(name)
            return Mutations(.stirred).removing($cells, key).creating($cells, key)
                .also($cells, key, .stirred(by: 1))
        case .clear(let room): return Mutations(.cleared).removing($rooms, WireKey(room))
        case .stirAll(let amount):
            return state.names.reduce(Mutations(sync: [.stirred, .stirred])) { all, name in
                all.also($cells, WireKey(name), .stirred(by: amount))
            }
        case .follow(let name, let amount):
            try check(name, state)
            context.dispatch(
                context.path.appending("cells").appending(WireKey(name)),
                Cell.Action.stir(by: amount))
            return Mutations(.stirred)
        case .refuse: throw Rejection("refused", "always")
        case .promise(let token):
            return Mutations(.owed(token: token)).undertaking("promise \(token)", token)
        case .plan(let token, let milliseconds):
            return Mutations(.owed(token: token)).scheduling(
                "plan \(token)", after: .milliseconds(milliseconds), Action.come(token: token))
        case .come(let token): return Mutations(.kept(token: token))
        default: return try claim(action, state, context)
        }
    }

    private func check(_ name: String, _ state: State) throws(Rejection) {
        guard state.names.contains(name) else { throw Rejection("not_there", name) }
    }

    private func claim(
        _ action: Action, _ state: State, _ context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        let connection = context.caller.connection
        switch action {
        case .wait: return Mutations(.queued(ticket: context.deferReply()))
        case .serve:
            for ticket in state.waiting { context.answer(ticket, with: state.steps) }
            return Mutations(.served)
        case .take:
            context.own("claim")
            return Mutations(.taken(connection: connection))
        case .give:
            guard state.holders.contains(connection) else { throw Rejection("not_held", "") }
            context.disown("claim", connection: connection)
            return Mutations(.given(connection: connection))
        case .exchange(let value):
            context.reply(state.value)
            return Mutations(.exchanged(value: value))
        default: return .none
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        state.steps += 1
        switch mutation {
        case .hatched(let name):
            state.names.append(name)
            state.names.sort()
        case .fell(let name): state.names.removeAll { $0 == name }
        case .cleared, .stirred: break
        case .queued(let ticket): state.waiting.append(ticket)
        case .served: state.waiting = []
        case .taken(let connection):
            if !state.holders.contains(connection) { state.holders.append(connection) }
        case .given(let connection): state.holders.removeAll { $0 == connection }
        case .exchanged(let value): state.value = value
        case .owed(let token): state.owed.append(token)
        case .kept(let token):
            if !state.owed.contains(token) { state.strayCount += 1 }
            state.owed.removeAll { $0 == token }
        }
    }

    func perform(_ task: DurableTask, state: State) -> Effect<Mutation> {
        Effect { emit in
            let token = try task.payload.decode(as: Int.self)
            emit.last(.kept(token: token))
        }
    }

    @Reacts(to: \Nest.$cells)
    func cellChanged(_ mutation: Cell.Mutation, key: WireKey) -> Mutations<Mutation> {
        guard case .stirred(let amount) = mutation else { return .none }
        return Mutations.none.also($tally, .added(amount)).also($cells, key, .echoed)
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        Mutations(.given(connection: owned.connection))
    }
}
