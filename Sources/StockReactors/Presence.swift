public import ReactorCore

/// The connections that have joined, until they leave or end.
///
/// User and process id are attested by the kernel, not claimed by the client.
///
/// Rejections: `not_here` for `leave` on a connection that has not joined, `full` for `join`
/// beyond 65,536 members, `too_large` for an info of more than 4 KiB.
@Reactor
public struct Presence {
    /// Maximum number of members.
    public static let membersMax = 65_536
    /// Maximum size of a member's info, in encoded bytes.
    public static let infoBytesMax = 4 << 10

    /// Makes an empty presence.
    public init() {}

    /// The actions of a presence.
    public enum Action: Equatable, Sendable {
        /// Adds the caller's connection as a member, with `info` about it; joining again replaces
        /// the info.
        case join(info: WireValue = .null)
        /// Removes the caller's connection from the members.
        case leave
    }

    /// The mutations of a presence.
    public enum Mutation: Equatable, Sendable {
        /// Adds the connection with this number.
        case joined(connection: UInt64, member: Member)
        /// Removes the connection with this number.
        case left(connection: UInt64)
    }

    /// A present connection.
    @WireCodable
    @MemberwiseInit
    public struct Member: Equatable, Sendable {
        /// The user id, as attested by the kernel.
        public var uid: UInt32
        /// The process id, as attested by the kernel.
        public var pid: Int32
        /// Information that the member gives about itself.
        public var info: WireValue = .null
    }

    /// The state of a presence.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// The members by the numbers of their connections.
        public var members: Keyed<UInt64, Member> = [:]

        /// Makes an empty state.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        try context.refusePreview()
        let caller = context.caller
        let isHere = state.members.contains(caller.connection)
        switch action {
        case .join(let info):
            try info.check(bytesMax: Self.infoBytesMax, "the info")
            guard isHere || state.members.count < Self.membersMax else {
                throw Rejection("full", "\(Self.membersMax) members are here, the maximum")
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
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        state.members.contains(owned.connection)
            ? Mutations(.left(connection: owned.connection)) : .none
    }

    private static let ownedKey: WireKey = "member"
}
