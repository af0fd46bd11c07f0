import Glibc
import Testing

@testable import ReactorLoop

@Suite struct PeerCredentialsTests {
    @Test("the peer's credentials are the kernel's, on both sides")
    func tellsThePeer() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (one, other) = try loop.pair()
        let us = PeerCredentials(uid: getuid(), gid: getgid(), pid: getpid())
        #expect(one.peer == us)
        #expect(other.peer == us)
    }

    @Test("a descriptor that is not a socket has no peer")
    func refusesNoSocket() {
        let error = #expect(throws: LoopError.self) { try PeerCredentials(of: -1) }
        #expect(error?.failure?.name == "EBADF")
    }
}
