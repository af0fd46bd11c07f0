public import ReactorCore

/// A lock that one connection holds at a time, with a fencing token for what it protects.
///
/// Every grant has a higher token than all before: whoever guards a resource refuses a token lower
/// than one it has seen. The lock is released by its token, or when the holder's connection ends;
/// then the one who has waited longest gets it.
///
/// Rejections: `held` for `acquire` without waiting, `too_many_waiters` beyond 4,096 of them,
/// `not_held` and `wrong_token` for `release`, `connection_ended` for an `acquire` whose connection
/// ended while it waited.
@Reactor
public struct Lock {
    /// Most connections that wait at a time.
    public static let waitersMax = 4_096

    /// A lock that nobody holds.
    public init() {}

    /// What a client may ask of a lock.
    public enum Action: Equatable, Sendable {
        /// Takes the lock and replies its token; where it is held, waits for it if `wait` says so,
        /// else is rejected.
        case acquire(wait: Bool = false)
        /// Gives the lock back, by the token that it was granted with.
        case release(token: UInt64)
    }

    /// What may happen to a lock.
    public enum Mutation: Equatable, Sendable {
        /// A free lock was granted.
        case granted(token: UInt64, client: Client)
        /// Somebody waits for it.
        case queued(waiter: Waiter)
        /// Whoever waited longest was granted it.
        case passed(token: UInt64)
        /// It is free.
        case freed
        /// Those who waited on this connection wait no more.
        case dropped(connection: UInt64)
    }

    /// What a granted `acquire` is answered with.
    public struct Reply: Equatable, Sendable {
        /// Releases the lock; higher than that of any grant before.
        public var token: UInt64

        /// Tells the token.
        public init(token: UInt64) { self.token = token }
    }

    /// The state of a lock.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// Who holds the lock; null where it is free.
        public var holder: Holder?
        /// Who waits for it, in the order in which they came.
        public var waiters: [Waiter] = []
        /// The token that was granted last.
        public var lastToken: UInt64 = 0

        /// Nobody holds it, nobody waits.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: Context<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        try context.refusePreview()
        switch action {
        case .acquire(let waits):
            return try acquire(waits: waits, state, context)
        case .release(let token):
            guard let holder = state.holder else {
                throw Rejection("not_held", "nobody holds the lock: there is nothing to release")
            }
            guard holder.token == token else {
                throw Rejection(
                    "wrong_token", "token \(token) does not hold the lock: it was released since")
            }
            disown(holder.client.connection, state, context)
            return Mutations(passOn(state.waiters.first, state, context))
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .granted(let token, let client):
            state.lastToken = token
            state.holder = Holder(token: token, client: client)
        case .queued(let waiter):
            state.waiters.append(waiter)
        case .passed(let token):
            guard let next = state.waiters.first else { return }
            state.waiters.removeFirst()
            state.lastToken = token
            state.holder = Holder(token: token, client: next.client)
        case .freed:
            state.holder = nil
        case .dropped(let connection):
            state.waiters.removeAll { $0.client.connection == connection }
        }
    }

    public func connectionEnded(
        _ owned: Owned, state: State, context: Context<Self>
    ) -> Mutations<Mutation> {
        var mutations: [Mutation] = []
        let leaving = state.waiters.filter { $0.client.connection == owned.connection }
        for waiter in leaving {
            context.refuse(
                waiter.ticket,
                Rejection("connection_ended", "the connection that waited for the lock has ended"))
        }
        if !leaving.isEmpty { mutations.append(.dropped(connection: owned.connection)) }
        if state.holder?.client.connection == owned.connection {
            let next = state.waiters.first { $0.client.connection != owned.connection }
            mutations.append(passOn(next, state, context))
        }
        return Mutations(sync: mutations)
    }
}

extension Lock {
    private static let ownedKey: WireKey = "claim"

    private func acquire(
        waits: Bool, _ state: State, _ context: Context<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        let client = Client(context.caller)
        guard let holder = state.holder else {
            let token = state.lastToken + 1
            context.own(Self.ownedKey)
            context.reply(Reply(token: token))
            return Mutations(.granted(token: token, client: client))
        }
        guard waits else {
            throw Rejection(
                "held",
                "process \(holder.client.pid) of user \(holder.client.uid) holds the lock: "
                    + "wait for it with {\"acquire\":{\"wait\":true}}")
        }
        guard state.waiters.count < Self.waitersMax else {
            throw Rejection("too_many_waiters", "\(Self.waitersMax) wait for the lock already")
        }
        context.own(Self.ownedKey)
        return Mutations(.queued(waiter: Waiter(ticket: context.deferReply(), client: client)))
    }

    /// Gives the lock to `next`, and answers it; without anybody next, the lock is free.
    private func passOn(
        _ next: Waiter?, _ state: State, _ context: Context<Self>
    ) -> Mutation {
        guard let next else { return .freed }
        let token = state.lastToken + 1
        context.answer(next.ticket, with: Reply(token: token))
        return .passed(token: token)
    }

    /// Unties a connection that gives the lock back, unless it waits for it again.
    private func disown(_ connection: UInt64, _ state: State, _ context: Context<Self>) {
        guard !state.waiters.contains(where: { $0.client.connection == connection }) else { return }
        context.disown(Self.ownedKey, connection: connection)
    }
}
