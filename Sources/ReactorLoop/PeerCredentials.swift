import CLibUV
import Glibc

/// Who is at the other end of a connection, as the kernel attests it.
///
/// Frozen when the connection was made: a process that changed its uid since still shows the old
/// one, and `pid` may have been reused. For a client it names who called `listen`.
public struct PeerCredentials: Hashable, Sendable {
    /// The peer's effective user.
    public let uid: UInt32
    /// The peer's effective group.
    public let gid: UInt32
    /// The peer's process.
    public let pid: Int32

    /// Names a peer by hand, for those who simulate one.
    public init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }

    /// Asks the kernel about the socket `descriptor`. *C*: `getsockopt(SO_PEERCRED)`.
    init(of descriptor: Int32) throws(LoopError) {
        // because glibc shows `struct ucred` only to code that asks for its GNU extensions
        var answer: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var byteCount = socklen_t(MemoryLayout.size(ofValue: answer))
        let code = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &answer, &byteCount)
        guard code == 0 else { throw .call(.system("getsockopt", "SO_PEERCRED")) }
        self.init(uid: answer.uid, gid: answer.gid, pid: answer.pid)
    }
}
