/// The sender of an action: attested by the kernel, the same for all actions of a connection.
public final class Caller: Sendable {
    /// Number of the connection, unique while the daemon runs; 0 is the daemon itself.
    public let connection: UInt64
    /// The client's public number; the same across its reconnects.
    public let client: UInt64
    /// User id of the process at the time of the connect (`SO_PEERCRED`).
    public let uid: UInt32
    /// Group id of the process.
    public let gid: UInt32
    /// Process id.
    public let pid: Int32

    /// Makes a caller of its parts.
    public init(connection: UInt64, client: UInt64, uid: UInt32, gid: UInt32, pid: Int32) {
        self.connection = connection
        self.client = client
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }

    /// Whether the daemon itself is the sender, and not a client.
    public var isDaemon: Bool { connection == 0 }

    /// The daemon itself, or the process of an in-process store.
    public static let daemon = Caller(connection: 0, client: 0, uid: 0, gid: 0, pid: 0)
}

/// The keys that an ended connection owned in one reactor.
public struct OwnedKeys: Sendable {
    /// The connection's number, as in ``Caller/connection``.
    public let connection: UInt64
    /// The owned keys, in the order in which the connection took them.
    public let keys: [WireKey]

    /// Makes the list of what a connection owned.
    public init(connection: UInt64, keys: [WireKey]) {
        self.connection = connection
        self.keys = keys
    }

    /// The owned keys of type `Key`, in the order in which the connection took them; others are
    /// left out.
    public func keys<Key: ChildKey>(as type: Key.Type = Key.self) -> [Key] {
        keys.compactMap { Key(wireKeyText: $0.text) }
    }
}

/// The right to answer an action later; the reactor that owes the answer keeps it in its state.
@WireCodable
@MemberwiseInit
public struct ReplyTicket: Hashable, Sendable {
    /// The client's public number.
    public var client: UInt64
    /// The number that the client gave to the action.
    public var ordinal: UInt64
}

/// The answer to an action whose reply was deferred.
package struct Resolution: Sendable {
    /// The answered action.
    package var ticket: ReplyTicket
    /// The answer.
    package var outcome: Outcome
}
