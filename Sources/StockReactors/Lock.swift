public import ReactorCore

/// A lock that one connection holds at a time, with a fencing token for the protected resource.
///
/// Every grant has a higher token than all before: the guard of a resource refuses a token lower
/// than one it has seen. The holder releases the lock with its token; the end of the holder's
/// connection releases it too. Then the longest waiting connection gets the lock. Access rules may
/// keep a client from releasing the lock of another user: see
/// ``ReactorContext/checkRelease(from:of:)``.
///
/// Rejections: `held` for `acquire` without waiting, `too_many_waiters` beyond 4,096 of them,
/// `not_held` and `wrong_token` for `release`, `connection_ended` for an `acquire` whose connection
/// ended while it waited.
@Reactor
public struct Lock {
    /// Maximum number of waiting connections.
    public static let waitersMax = 4_096

    /// Makes a free lock.
    public init() {}

    /// The actions of a lock.
    public enum Action: Equatable, Sendable {
        /// Takes the lock and replies with its token. If the lock is held, waits for it with
        /// `wait`, else is rejected.
        case acquire(wait: Bool = false)
        /// Releases the lock, by the token of its grant.
        case release(token: UInt64)
    }

    /// The mutations of a lock.
    public enum Mutation: Equatable, Sendable {
        /// Grants the free lock.
        case granted(token: UInt64, client: Client)
        /// Adds a waiter.
        case queued(waiter: Waiter)
        /// Grants the lock to the first waiter.
        case passed(token: UInt64)
        /// Frees the lock.
        case freed
        /// Removes the waiters of this connection.
        case dropped(connection: UInt64)
    }

    /// The reply to a granted `acquire`.
    public struct Reply: Equatable, Sendable {
        /// The token that releases the lock; higher than those of all earlier grants.
        public var token: UInt64

        /// Makes a reply.
        public init(token: UInt64) { self.token = token }
    }

    /// The state of a lock.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// The holder of the lock; null if it is free.
        public var holder: Holder?
        /// The waiters, in the order of their requests.
        public var waiters: [Waiter] = []
        /// The token of the last grant.
        public var lastToken: UInt64 = 0

        /// Makes a free lock without waiters.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        try context.refusePreview()
        switch action {
        case .acquire(let waits):
            return try acquire(waits: waits, state, context)
        case .release(let token):
            guard let holder = state.holder else {
                throw Rejection("not_held", "the lock is free: there is nothing to release")
            }
            guard holder.token == token else {
                throw Rejection(
                    "wrong_token", "token \(token) does not hold the lock: it was released since")
            }
            try context.checkRelease(from: holder.client.connection, of: holder.client.uid)
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
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        var mutations: [Mutation] = []
        let leaving = state.waiters.filter { $0.client.connection == owned.connection }
        for waiter in leaving {
            context.refuse(
                waiter.ticket,
                Rejection(
                    "connection_ended",
                    "the connection that waited for the lock has ended, or its wait was released"))
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
        waits: Bool, _ state: State, _ context: ReactorContext<Self>
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

    /// Grants the lock to `next` and answers its `acquire`; without a waiter, frees the lock.
    private func passOn(
        _ next: Waiter?, _ state: State, _ context: ReactorContext<Self>
    ) -> Mutation {
        guard let next else { return .freed }
        let token = state.lastToken + 1
        context.answer(next.ticket, with: Reply(token: token))
        return .passed(token: token)
    }

    /// Ends a connection's ownership after a release, unless the connection waits for the lock
    /// again.
    private func disown(_ connection: UInt64, _ state: State, _ context: ReactorContext<Self>) {
        guard !state.waiters.contains(where: { $0.client.connection == connection }) else { return }
        context.disown(Self.ownedKey, connection: connection)
    }
}

extension Lock {
    /// A client that holds the lock or waits for it, as attested by the kernel.
    @WireCodable
    @MemberwiseInit
    public struct Client: Equatable, Sendable {
        /// Number of its connection.
        public var connection: UInt64
        /// Its user id.
        public var uid: UInt32
        /// Its process id.
        public var pid: Int32

        init(_ caller: Caller) {
            self.init(connection: caller.connection, uid: caller.uid, pid: caller.pid)
        }
    }

    /// The holder of the lock.
    @WireCodable
    @MemberwiseInit
    public struct Holder: Equatable, Sendable {
        /// The token of this grant.
        public var token: UInt64
        /// The client.
        public var client: Client
    }

    /// A client that waits for the lock.
    @WireCodable
    @MemberwiseInit
    public struct Waiter: Equatable, Sendable {
        /// The ticket that answers its `acquire`.
        public var ticket: ReplyTicket
        /// The client.
        public var client: Client
    }
}
