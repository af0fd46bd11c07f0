public import ReactorCore

/// Who is here: every connection that joined, until it leaves or ends.
///
/// User and process are what the kernel says of the peer, never what the client says.
///
/// Rejections: `not_here` for `leave` on a connection that has not joined, `full` for `join`
/// beyond 65,536 members, `too_large` for an info of more than 4 KiB.
@Reactor
public struct Presence {
    /// Most members at a time.
    public static let membersMax = 65_536
    /// Largest information about oneself, in encoded bytes.
    public static let infoBytesMax = 4 << 10

    /// A room that nobody is in.
    public init() {}

    /// What a client may ask of a presence.
    public enum Action: Equatable, Sendable {
        /// Shows the caller's connection as a member, with `info` about itself; joining again
        /// replaces the info.
        case join(info: WireValue = .null)
        /// Takes the caller's connection away.
        case leave
    }

    /// What may happen to a presence.
    public enum Mutation: Equatable, Sendable {
        /// The connection with this number is here.
        case joined(connection: UInt64, member: Member)
        /// It is not here any more.
        case left(connection: UInt64)
    }

    /// Somebody who is here.
    @WireCodable
    public struct Member: Equatable, Sendable {
        /// The user, as the kernel says.
        public var uid: UInt32
        /// The process, as the kernel says.
        public var pid: Int32
        /// What the member says of itself.
        public var info: WireValue = .null

        /// Names who is present.
        public init(uid: UInt32, pid: Int32, info: WireValue = .null) {
            self.uid = uid
            self.pid = pid
            self.info = info
        }
    }

    /// The state of a presence.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// The members by the numbers of their connections.
        public var members: Keyed<UInt64, Member> = [:]

        /// Nobody.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: Context<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        try context.refusePreview()
        let caller = context.caller
        let isHere = state.members.contains(caller.connection)
        switch action {
        case .join(let info):
            try info.check(bytesMax: Self.infoBytesMax, "the info")
            guard isHere || state.members.count < Self.membersMax else {
                throw Rejection("full", "\(Self.membersMax) members are here, which is the most")
            }
            context.own(Self.ownedKey)
            let member = Member(uid: caller.uid, pid: caller.pid, info: info)
            return Mutations(.joined(connection: caller.connection, member: member))
        case .leave:
            guard isHere else {
                throw Rejection("not_here", "this connection has not joined")
            }
            context.disown(Self.ownedKey, connection: caller.connection)
            return Mutations(.left(connection: caller.connection))
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .joined(let connection, let member): state.members[connection] = member
        case .left(let connection): state.members.removeValue(forKey: connection)
        }
    }

    public func connectionEnded(
        _ owned: Owned, state: State, context: Context<Self>
    ) -> Mutations<Mutation> {
        state.members.contains(owned.connection)
            ? Mutations(.left(connection: owned.connection)) : .none
    }

    private static let ownedKey: WireKey = "member"
}
