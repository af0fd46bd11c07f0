import ReactorCore
package import ReactorWire

/// What a following daemon tells the leading one about its clients, over a link between the two.
///
/// *Shape*: the first request of a link is ``begin(_:)``. The actions of a connection come in the
/// order in which the client sent them. Their outcomes come back in rows.
@WireCodable
package enum ForwardRequest: Equatable, Sendable {
    /// These clients have acted and are connected. Every other connection of the daemon has ended.
    case begin([RemoteClient])
    /// Another client acts for the first time.
    case connect(RemoteClient)
    /// `frames` are frames of actions and batches as they arrived, and `nodes` the nodes that they
    /// name. `deaths` is the number of leading daemons that have ended while they had the first of
    /// the actions, and `waited` the time since its arrival, in nanoseconds.
    case actions(
        connection: UInt64, nodes: [NodeAlias], frames: [UInt8], deaths: UInt64,
        waited: UInt64 = 0)
    /// A client's connection has ended; after a goodbye, so has its session.
    case disconnect(connection: UInt64, isGoodbye: Bool)
}

/// What the leading daemon answers, apart from rows.
@WireCodable
package enum ForwardReply: Equatable, Sendable {
    /// The actions of a connection up to `ordinal` were carried out.
    case ran(connection: UInt64, ordinal: UInt64)
    /// An action was refused, and no row has that.
    case refused(connection: UInt64, ordinal: UInt64, is: Outcome)
    /// The client may not act any more: close its connection for this reason.
    case ended(connection: UInt64, code: String, message: String)
}

/// A client of a following daemon, as the leading one has to know it.
@WireCodable
package struct RemoteClient: Equatable, Sendable {
    /// Number of its connection.
    package var connection: UInt64
    /// The client's public number.
    package var client: UInt64
    /// The secret of its session.
    package var secret: [UInt8]
    /// User.
    package var uid: UInt32
    /// Group.
    package var gid: UInt32
    /// Process, on the machine of its daemon.
    package var pid: Int32
    /// Supplementary groups, if rules name any.
    package var groups: [UInt32]
    /// Whether it has connected to the administrators' socket.
    package var isAtAdminSocket: Bool
    /// The program's name for itself.
    package var program: String
    /// Highest ordinal of its session that a row has, as far as its daemon knows.
    package var ordinal: UInt64

    var peer: Peer {
        Peer(uid: uid, gid: gid, pid: pid, groups: groups, isAtAdminSocket: isAtAdminSocket)
    }
}

/// A node, and the number by which a connection's frames name it.
@WireCodable
package struct NodeAlias: Equatable, Sendable {
    /// The number in the frames.
    package var id: UInt32
    /// The node's number in the tree.
    package var node: UInt32

    /// The number in the place of a node's, where a frame names no open node.
    static let noNode = UInt32.max
}
