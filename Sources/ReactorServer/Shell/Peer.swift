/// The number of a socket; never reused while the daemon runs.
package struct ConnectionID: Hashable, Sendable {
    package let rawValue: UInt64

    /// Names the socket with this number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The number of the daemon that accepted the connection; 0 for a daemon that is alone.
    package var node: UInt8 { UInt8(rawValue >> 56) }
}

/// The process at the other end of a socket, as the kernel reports it (`SO_PEERCRED`,
/// `SO_PEERGROUPS`).
package struct Peer: Equatable, Sendable {
    /// The user.
    package var uid: UInt32
    /// The group.
    package var gid: UInt32
    /// The process.
    package var pid: Int32
    /// The supplementary groups at the connect; empty where no rule asks for groups.
    package var groups: [UInt32]
    /// Whether the process has connected to the administrators' socket.
    package var isAtAdminSocket: Bool

    /// Names a peer.
    package init(
        uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32] = [],
        isAtAdminSocket: Bool = false
    ) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.groups = groups
        self.isAtAdminSocket = isAtAdminSocket
    }

    /// Whether it is an administrator at that socket: root, or the daemon's own user. A service
    /// manager may have given the socket a mode that lets others connect.
    func isAdministrator(ownerUID: UInt32?) -> Bool {
        isAtAdminSocket && (uid == 0 || uid == ownerUID)
    }
}
