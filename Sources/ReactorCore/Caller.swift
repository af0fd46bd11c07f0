/// Who sends an action: attested by the kernel, the same for all actions of a connection.
public final class Caller: Sendable {
    /// Number of the connection, unique while the daemon runs; 0 is the daemon itself.
    public let connection: UInt64
    /// The client's public number; the same across its reconnects.
    public let client: UInt64
    /// User, group and process at the time of the connect (`SO_PEERCRED`).
    public let uid: UInt32
    /// Group.
    public let gid: UInt32
    /// Process.
    public let pid: Int32

    /// Names a caller.
    public init(connection: UInt64, client: UInt64, uid: UInt32, gid: UInt32, pid: Int32) {
        self.connection = connection
        self.client = client
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }

    /// The daemon itself, or the process of an in-process store.
    public static let daemon = Caller(connection: 0, client: 0, uid: 0, gid: 0, pid: 0)
}

/// What a connection that has ended owned in one reactor.
public struct Owned: Sendable {
    /// The connection's number, as ``Caller/connection`` said it.
    public let connection: UInt64
    /// The keys that were owned, in the order in which they were taken.
    public let keys: [WireKey]

    /// Names what a connection owned.
    public init(connection: UInt64, keys: [WireKey]) {
        self.connection = connection
        self.keys = keys
    }
}

/// The right to answer an action later; kept in the state of the reactor that owes the answer.
@WireCodable
public struct ReplyTicket: Hashable, Sendable {
    /// The client's public number.
    public var client: UInt64
    /// The number that the client gave to the action.
    public var ordinal: UInt64

    /// Names the action that is to be answered.
    public init(client: UInt64, ordinal: UInt64) {
        self.client = client
        self.ordinal = ordinal
    }
}

/// The answer to an action whose reply was deferred.
public struct Resolution: Sendable {
    /// Which action is answered.
    public var ticket: ReplyTicket
    /// The answer.
    public var outcome: Outcome
}
