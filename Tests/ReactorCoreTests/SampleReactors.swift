import ReactorCore

/// Sums what it is given; shows each way of deciding.
@Reactor
struct Tally {
    enum Action: Equatable, Sendable {
        case add(Int)
        case spread([Int])
        case nothing
        case refuse
        case flood(Int)
        case swell(Int)
    }

    enum Mutation: Equatable, Sendable {
        case added(Int)
        case padded(String)
    }

    struct State: Equatable, Sendable {
        var sum = 0
        var history: [Int] = []
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount): return [.added(amount)]
        case .spread(let amounts): return Mutations(sync: amounts.map(Mutation.added))
        case .nothing: return .none
        case .refuse: throw Rejection("refused", "the sum \(state.sum) stays")
        case .flood(let count):
            return Mutations(sync: Array(repeating: .added(1), count: count))
        case .swell(let byteCount):
            return [.padded(String(repeating: "x", count: byteCount))]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount):
            state.sum += amount
            state.history.append(amount)
        case .padded: state.sum += 1
        }
    }
}

/// Repeats each action: its actions are its mutations, and its reducer returns a new state.
struct Echo: Reactor {
    @WireCodable
    enum Action: Equatable, Sendable { case say(String) }

    @WireCodable
    struct State: Equatable, Sendable { var heard = "" }

    var initialState: State { State(heard: "nothing") }

    func reduce(state: State, mutation: Action) -> State {
        switch mutation {
        case .say(let text): State(heard: text)
        }
    }
}

/// A parent with a static child and rooms that come and go.
@Reactor
struct Shop {
    @Child var visits = Tally()
    @Children var rooms = { (key: WireKey) in Room(named: key.text) }

    enum Action: Equatable, Sendable {
        case visit(Int)
        case open(String)
        case close(String)
        case furnish(String, Int)
        case reopen(String)
        case overfill(Int)
        case refuseAfterLooking
    }

    enum Mutation: Equatable, Sendable {
        case noted(String)
    }

    struct State: Equatable, Sendable {
        var notes: [String] = []
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .visit(let count):
            let before = context.state(of: $visits).sum
            return Mutations(.noted("visit after \(before)")).also($visits, .added(count))
        case .open(let name):
            return Mutations(.noted("open \(name)")).creating($rooms, WireKey(name))
        case .close(let name):
            return Mutations(.noted("close \(name)")).removing($rooms, WireKey(name))
        case .furnish(let name, let count):
            guard let room = context.state(of: $rooms, WireKey(name)) else {
                throw Rejection("no_room", "no room \(name) among \(context.keys(of: $rooms))")
            }
            return Mutations(.noted("\(room.chairs) chairs"))
                .also($rooms, WireKey(name), .placed(count))
        case .reopen(let name):
            return Mutations.none.removing($rooms, WireKey(name)).creating($rooms, WireKey(name))
        case .overfill(let byteCount):
            let text = String(repeating: "x", count: byteCount)
            return Mutations(.noted("before")).also($visits, .padded(text))
        case .refuseAfterLooking:
            throw Rejection("refused", "\(context.state(of: $visits).sum) visits")
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let note): state.notes.append(note)
        }
    }

    @Reacts(to: \Shop.$visits)
    func visited(_ mutation: Tally.Mutation) -> Mutations<Mutation> {
        guard case .added(let count) = mutation, count >= 10 else { return .none }
        return [.noted("a crowd of \(count)")]
    }

    @Reacts(to: \Shop.$rooms)
    func furnished(_ mutation: Room.Mutation, key: WireKey) -> Mutations<Mutation> {
        switch mutation {
        case .placed(let count): [.noted("\(key) got \(count)")]
        }
    }
}

/// A room with a child of its own.
@Reactor
struct Room {
    let name: String
    @Child var guests = Tally()

    init(named name: String) { self.name = name }

    enum Action: Equatable, Sendable { case place(Int) }
    enum Mutation: Equatable, Sendable { case placed(Int) }

    struct State: Equatable, Sendable {
        var name = ""
        var chairs = 0
    }

    var initialState: State { State(name: name) }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .place(let count): [.placed(count)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .placed(let count): state.chairs += count
        }
    }
}

/// A desk that owns keys, answers, defers answers, and dispatches to itself.
@Reactor
struct Desk {
    enum Action: Equatable, Sendable {
        case take(String)
        case drop(String)
        case ask
        case answerAll(String)
        case refuseAll
        case hop(Int)
        case fan(Int)
        case loop
        case whoAmI
        case takeAndRefuse(String)
    }

    enum Mutation: Equatable, Sendable {
        case taken(String)
        case asked(ReplyTicket)
        case answered
        case stepped(Int)
        case ended(UInt64, [WireKey])
    }

    struct State: Equatable, Sendable {
        var log: [String] = []
        var tickets: [ReplyTicket] = []
    }

    enum Reply: Equatable, Sendable { case text(String) }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .take(let key):
            context.own(WireKey(key))
            return [.taken(key)]
        case .drop(let key):
            context.disown(WireKey(key), connection: context.caller.connection)
            return .none
        case .ask: return [.asked(context.deferReply())]
        case .answerAll(let text):
            for ticket in state.tickets { context.answer(ticket, with: .text(text)) }
            return [.answered]
        case .refuseAll:
            for ticket in state.tickets { context.refuse(ticket, Rejection("no", "not today")) }
            return [.answered]
        case .hop(let left):
            if left > 0 { context.dispatch(.hop(left - 1)) }
            return [.stepped(left)]
        case .fan(let count):
            for number in 0..<count { context.dispatch(.hop(-number)) }
            return [.stepped(count)]
        case .loop:
            context.dispatch(context.path, Action.loop)
            return [.stepped(0)]
        case .whoAmI:
            let caller = context.caller
            let cause = context.cause
            context.reply(
                .text(
                    "uid \(caller.uid) pid \(caller.pid) action \(cause.ordinal) of client "
                        + "\(cause.client) at \(context.revision.sequence) in \(context.path)"))
            return .none
        case .takeAndRefuse(let key):
            context.own(WireKey(key))
            context.reply(.text("never"))
            context.dispatch(.hop(0))
            throw Rejection("refused", "after asking for much")
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .taken(let key): state.log.append("taken \(key)")
        case .asked(let ticket): state.tickets.append(ticket)
        case .answered: state.tickets = []
        case .stepped(let left): state.log.append("step \(left)")
        case .ended(let connection, let keys): state.log.append("end of \(connection): \(keys)")
        }
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.ended(owned.connection, owned.keys)]
    }
}

/// Two nodes that talk each other into a loop: a reaction mutates the child it reacts to.
@Reactor
struct Dizzy {
    @Child var child = Tally()

    enum Action: Equatable, Sendable { case start }
    enum Mutation: Equatable, Sendable { case turned }
    struct State: Equatable, Sendable { var turns = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        Mutations(.turned).also($child, .added(1))
    }

    func reduce(state: inout State, mutation: Mutation) { state.turns += 1 }

    func react(to change: ChildChange, state: State) -> Mutations<Mutation> {
        Mutations(.turned).also($child, .added(1))
    }
}
