import CLibUV
import Glibc

/// The process at the other end of a connection, as attested by the kernel.
///
/// The values are those at the time of the connect: a process that changed its uid since still
/// shows the old one, and `pid` may have been reused. For a client they are those of the process
/// that called `listen`.
package struct PeerCredentials: Hashable, Sendable {
    /// The peer's effective user id.
    package let uid: UInt32
    /// The peer's effective group id.
    package let gid: UInt32
    /// The peer's process id.
    package let pid: Int32

    /// Makes credentials by hand, for simulations.
    package init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }

    /// Asks the kernel about the socket `descriptor`. *C*: `getsockopt(SO_PEERCRED)`.
    init(of descriptor: Int32) throws(LoopError) {
        // glibc declares `struct ucred` only with its GNU extensions.
        var answer: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var byteCount = socklen_t(MemoryLayout.size(ofValue: answer))
        let code = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &answer, &byteCount)
        guard code == 0 else { throw .call(.system("getsockopt", "SO_PEERCRED")) }
        self.init(uid: answer.uid, gid: answer.gid, pid: answer.pid)
    }

    // Neither glibc nor Swift's importer declares it.
    private static let peerGroups: Int32 = 59
    /// Maximum number of groups of a process: the kernel's `NGROUPS_MAX`.
    private static let groupsMax = 65_536

    /// The supplementary groups of the peer of the socket `descriptor`, at the time of its connect.
    ///
    /// *C*: `getsockopt(SO_PEERGROUPS)`, once or twice.
    static func groups(of descriptor: Int32) throws(LoopError) -> [UInt32] {
        for countMax in [64, groupsMax] {
            var groups = [UInt32](repeating: 0, count: countMax)
            var byteCount = socklen_t(countMax * MemoryLayout<UInt32>.stride)
            let code = unsafe getsockopt(
                descriptor, SOL_SOCKET, peerGroups, &groups, &byteCount)
            if code == 0 { return Array(groups.prefix(Int(byteCount) / 4)) }
            guard errno == ERANGE else { break }
        }
        throw .call(.system("getsockopt", "SO_PEERGROUPS"))
    }
}
