package import ReactorWire

/// What a server gives its successor in another process: everything besides the history that the
/// open connections need.
///
/// *Place*: ``Server/handOver(unsent:asking:number:)`` makes it and
/// ``Server/takeOver(_:at:peer:)`` reads it. *Shape*: of one revision, at which nothing waits for the journal.
@WireCodable
package struct ServerHandover: Equatable, Sendable {
    /// The revision of the tree.
    package var revision: Revision
    /// The highest number of any connection.
    package var lastConnection: UInt64
    /// The highest number of any client.
    package var lastClient: UInt64
    /// A digest of all reactors' types; with others, clients get new values.
    package var types: UInt64
    /// The slices that connections follow.
    package var slices: [HandedSlice]
    /// The open connections, in the order of their arrival.
    package var connections: [HandedConnection]
    /// What users have left of their rates.
    package var accounts: [HandedAccount]
}

/// A slice that connections follow.
@WireCodable
package struct HandedSlice: Equatable, Sendable {
    /// The number by which the clients know it.
    var id: UInt32
    /// The path of its node.
    var path: [WireKey]
    /// The path inside the node's value.
    var field: [WireKey]
    /// The fingerprint of the node's types.
    var fingerprint: UInt64
    var mode: SubscriptionMode
    var selection: Selection?
    /// Whether it shows a class of callers what they may read.
    var isView: Bool
    /// The checksum of the last value that was sent, if it shows a class of callers what they may
    /// read.
    var viewChecksum: UInt64?
}

/// An open connection.
@WireCodable
package struct HandedConnection: Equatable, Sendable {
    /// The connection's number.
    package var id: UInt64
    /// The peer, as the kernel reports it.
    package var uid: UInt32
    package var gid: UInt32
    package var pid: Int32
    package var isAtAdminSocket: Bool
    /// Whether it counts among its user's connections.
    var isAdmitted: Bool
    /// Whether nothing more is read from the client.
    package var isLeaving: Bool
    /// Whether the client waits for something that is not handed over.
    package var isWaiting: Bool
    /// The number of the request for the restart, if this connection sent it.
    package var restartRequest: UInt64?
    /// When it was accepted, in nanoseconds; nil if its client has not sent its hello.
    var acceptedAt: UInt64?
    /// Actions since it was accepted.
    var actionCount: UInt64
    /// The program's name, as the client states it.
    var program: String
    /// The client's session; nil before its hello, and after its goodbye.
    var session: HandedSession?
    /// Bytes that arrived and are not handled.
    var input: [UInt8]
    /// Bytes that the client was not sent yet.
    package var output: [UInt8]
    /// The ``Outlet/State``.
    var state: String
    /// Sequence of the last mark.
    var markedSequence: UInt64
    var nodes: [HandedNode]
    var subscriptions: [HandedSubscription]
}

/// A client's session.
@WireCodable
package struct HandedSession: Equatable, Sendable {
    var client: UInt64
    var secret: [UInt8]
    /// Highest ordinal that arrived.
    var ordinal: UInt64
    /// Highest ordinal that arrived on a connection that has ended.
    var formerOrdinal: UInt64
    /// Whether the journal has the session.
    var isStored: Bool
    /// Actions for the end of whose effects the client waits.
    var awaited: [UInt64]
}

/// A node that a connection has open.
@WireCodable
package struct HandedNode: Equatable, Sendable {
    /// The client's number for it.
    var id: UInt32
    var path: [WireKey]
    var fingerprint: UInt64
}

/// A connection's subscription to a slice.
@WireCodable
package struct HandedSubscription: Equatable, Sendable {
    /// The slice's number.
    var id: UInt32
    /// The ``Subscription/Debt``.
    var debt: String
    var takesPatches: Bool
}

/// What a user has left of its rates.
@WireCodable
package struct HandedAccount: Equatable, Sendable {
    var uid: UInt32
    var actions: TokenLevel?
    var journal: TokenLevel?
}

extension ServerHandover {
    /// The clients whose sessions continue with their connections.
    var clients: Set<UInt64> {
        Set(connections.lazy.filter { !$0.isLeaving }.compactMap { $0.session?.client })
    }

    /// The connections that keep what they own.
    var owners: Set<UInt64> { Set(connections.lazy.filter { !$0.isLeaving }.map(\.id)) }
}

/// How many connections a server has taken over.
package struct TakenConnections: Sendable {
    /// Number of connections.
    package var count = 0
    /// Number of those that it closes.
    package var closedCount = 0
    /// The connection that asked for the restart, with the number of its request.
    package var asker: (connection: ConnectionID, number: UInt64)?
}
