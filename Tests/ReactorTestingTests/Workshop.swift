import ReactorCore

/// A workshop whose orders are children, with deferred answers, owned desks and durable timers.
/// Its fault, if any, is a wrong rule that a simulation must find.
@Reactor
struct Workshop {
    @Children var orders = { (_: WireKey) in Order() }
    var fault: Fault? = nil

    /// A wrong rule.
    enum Fault: Sendable {
        /// An order that expires remains in the list.
        case keepsExpired
        /// A desk is not released when its connection ends.
        case keepsDesks
    }

    typealias Reply = Int

    enum Action: Equatable, Sendable {
        case open
        case expire(Int)
        case awaitNext
        case sit
    }

    enum Mutation: Equatable, Sendable {
        case opened(Int)
        case expired(Int)
        case waiting(ReplyTicket)
        case sat(UInt64)
        case rose(UInt64)
        case worked
    }

    struct State: Equatable, Sendable {
        var last = 0
        var numbers: [Int] = []
        var tickets: [ReplyTicket] = []
        var desks: [UInt64] = []
        var steps = 0
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open:
            let number = state.last + 1
            for ticket in state.tickets { context.answer(ticket, with: number) }
            context.reply(number)
            return Mutations(.opened(number)).creating($orders, WireKey("\(number)"))
                .scheduling(
                    "expire \(number)", after: .milliseconds(60), Action.expire(number))
        case .expire(let number):
            guard state.numbers.contains(number) else { throw Rejection("gone", "no order") }
            return Mutations(.expired(number)).removing($orders, WireKey("\(number)"))
        case .awaitNext: return [.waiting(context.deferReply())]
        case .sit:
            context.own("desk")
            return [.sat(context.caller.connection)]
        }
    }

    func react(to change: ChildChange, state: State) -> Mutations<Mutation> {
        guard case .worked? = change.mutation(of: $orders)?.mutation else { return .none }
        return [.worked]
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        fault == .keepsDesks ? .none : [.rose(owned.connection)]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .opened(let number):
            state.last = number
            state.numbers.append(number)
            state.tickets = []
        case .expired(let number):
            if fault != .keepsExpired { state.numbers.removeAll { $0 == number } }
        case .waiting(let ticket): state.tickets.append(ticket)
        case .sat(let connection):
            if !state.desks.contains(connection) { state.desks.append(connection) }
        case .rose(let connection): state.desks.removeAll { $0 == connection }
        case .worked: state.steps += 1
        }
    }
}

/// An order in a ``Workshop``, with a counter of its own.
@Reactor
struct Order {
    @Child var count = Counter()

    enum Action: Equatable, Sendable { case work(limit: Int) }
    enum Mutation: Equatable, Sendable { case worked }
    struct State: Equatable, Sendable { var steps = 0 }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .work(let limit):
            guard state.steps < limit else { throw Rejection("done", "\(state.steps) steps") }
            return Mutations(.worked).also($count, .added(1))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.steps += 1 }
}

/// The next version of the ``Workshop``: the daemon reads the history of the first one.
enum NextVersion {
    /// A workshop under the same name: what was called `expire` is a cancellation, the open orders
    /// have another name, and there is a discount. Its new orders are not planned to end, and have
    /// numbers from 1,000.
    @Reactor
    struct Workshop {
        static let firstNumber = 1_000

        @Children var orders = { (_: WireKey) in Order() }

        typealias Reply = Int

        enum Action: Equatable, Sendable {
            case open
            @WireAlias("expire") case cancel(Int)
            case awaitNext
            case sit
        }

        enum Mutation: Equatable, Sendable {
            @WireAlias("opened") case accepted(Int)
            @WireAlias("expired") case cancelled(Int)
            case waiting(ReplyTicket)
            case sat(UInt64)
            case rose(UInt64)
            case worked
        }

        struct State: Equatable, Sendable {
            var last = 0
            @WireAlias("numbers") var open: [Int] = []
            var tickets: [ReplyTicket] = []
            var desks: [UInt64] = []
            var steps = 0
            var discount = 10
        }

        func mutate(
            action: Action, state: State, context: ReactorContext<Self>
        ) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .open:
                let number = max(state.last + 1, Self.firstNumber)
                return Mutations(.accepted(number)).creating($orders, WireKey("\(number)"))
            case .cancel(let number):
                guard state.open.contains(number) else { throw Rejection("gone", "no order") }
                return Mutations(.cancelled(number)).removing($orders, WireKey("\(number)"))
            case .awaitNext, .sit: throw Rejection("closed", "only orders are taken")
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .accepted(let number):
                state.last = number
                state.open.append(number)
                state.tickets = []
            case .cancelled(let number): state.open.removeAll { $0 == number }
            case .waiting(let ticket): state.tickets.append(ticket)
            case .sat(let connection): state.desks.append(connection)
            case .rose(let connection): state.desks.removeAll { $0 == connection }
            case .worked: state.steps += 1
            }
        }
    }
}
