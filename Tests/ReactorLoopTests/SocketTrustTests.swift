import Glibc
import ReactorLoop
import Testing

@Suite struct SocketTrustTests {
    private let directory = TemporaryDirectory()
    private let own = PeerCredentials(uid: geteuid(), gid: 0, pid: 1)
    private let stranger = PeerCredentials(uid: 54_321, gid: 0, pid: 1)

    private func fault(
        _ trust: SocketTrust, _ peer: PeerCredentials, at address: UnixAddress
    ) -> SocketTrustFault? {
        do throws(LoopError) {
            try trust.check(peer, at: address)
            return nil
        } catch {
            guard case .untrustedSocket(address.path, let fault) = error else {
                Issue.record("expected untrustedSocket, got \(error)")
                return nil
            }
            return fault
        }
    }

    @Test("a daemon of the client's own user, of root or of the given user is trusted")
    func trusted() throws {
        let address = try directory.address("s")
        let root = PeerCredentials(uid: 0, gid: 0, pid: 1)
        #expect(fault(SocketTrust(), own, at: address) == nil)
        #expect(fault(SocketTrust(), root, at: address) == nil)
        #expect(fault(SocketTrust(named: 54_321), stranger, at: address) == nil)
    }

    // [WIRE-1-4]
    @Test("a daemon of any other user is not trusted")
    func strangersDaemon() throws {
        let address = try directory.address("s")
        let expected = Set([0, geteuid()]).sorted()
        let fault = fault(SocketTrust(), stranger, at: address)
        #expect(fault == .isServedBy(uid: 54_321, expected: expected))
        #expect(try #require(fault).description.contains("54321"))
    }

    // [WIRE-1-4]
    @Test("a directory that other users may write to makes its sockets untrusted")
    func openDirectory() throws {
        let address = try directory.address("s")
        Files.setMode(0o1777, of: directory.path)
        let fault = fault(SocketTrust(), own, at: address)
        #expect(fault == .directory(directory.path, .isWritableByOthers(mode: 0o1777)))
        Files.setMode(0o700, of: directory.path)
    }

    @Test("a directory of another user makes its sockets untrusted", .enabled(if: getuid() == 0))
    func strangersDirectory() throws {
        let address = try directory.address("s")
        Files.give(directory.path, to: 54_321)
        let fault = fault(SocketTrust(), own, at: address)
        #expect(fault == .directory(directory.path, .isOwnedBy(owner: 54_321, expected: 0)))
        #expect(self.fault(SocketTrust(named: 54_321), own, at: address) == nil)
    }

    @Test(
        "at the system's place the directory's owner is trusted, if only root can have made it",
        .enabled(if: getuid() == 0))
    func systemDirectory() throws {
        let path = directory.path("reactord")
        Files.makeDirectory(path)
        Files.setMode(0o755, of: path)
        Files.give(path, to: 54_321)
        let address = try UnixAddress(path + "/s")
        let trust = SocketTrust(trustsSystemDirectory: true)
        #expect(fault(trust, stranger, at: address) == nil)
        #expect(fault(SocketTrust(), stranger, at: address) != nil)
        Files.setMode(0o777, of: directory.path)
        #expect(fault(trust, stranger, at: address) != nil)
        Files.setMode(0o700, of: directory.path)
    }

    @Test("a connection to an untrusted socket is closed before it is returned")
    func connection() throws {
        let address = try directory.address("s")
        let loop = try EventLoop()
        defer { loop.close() }
        let listener = try Listener(at: address, on: loop)
        var byteCount = 0
        listener.onAccept = { link in
            link.onBytes = { byteCount += $0.count }
            link.resumeReading()
        }
        listener.resumeAccepting()
        Files.setMode(0o777, of: directory.path)
        #expect(throws: LoopError.self) {
            try Connection.connect(to: address, on: loop, trusting: SocketTrust())
        }
        for _ in 0..<4 { loop.turn(.noWait) }
        #expect(byteCount == 0)
        Files.setMode(0o700, of: directory.path)
        let connection = try Connection.connect(to: address, on: loop, trusting: SocketTrust())
        #expect(connection.peer.uid == geteuid())
    }
}
