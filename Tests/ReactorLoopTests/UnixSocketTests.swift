import Glibc
import Testing

@testable import ReactorLoop

@Suite struct UnixSocketTests {
    @Test("a listening socket has mode 0600 whatever the umask", arguments: [0, 0o022, 0o077])
    func modeIsIndependent(_ mask: mode_t) async {
        await #expect(processExitsWith: .success) { [mask = mask as mode_t] in
            umask(mask)
            let directory = TemporaryDirectory()
            let address = try directory.address()
            let descriptor = try UnixSocket.listen(at: address, backlog: 1)
            #expect(Files.mode(of: address.path) == S_IFSOCK | 0o600)
            #expect(umask(0) == mask)
            close(descriptor)
        }
    }

    @Test("a socket's file that has the right group and mode is left unchanged")
    func keepsPermissions() throws {
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let permissions = SocketPermissions(mode: 0o660)
        let descriptor = try UnixSocket.listen(
            at: address, backlog: 1, permissions: permissions)
        defer { close(descriptor) }
        #expect(Files.mode(of: address.path) == S_IFSOCK | 0o660)
        // Every chmod and chown sets this time to that of the clock, which advances by ticks.
        let changed = Files.changeTime(of: address.path)
        while Files.clockTime == changed {}
        try UnixSocket.setPermissions(permissions, of: address)
        #expect(Files.changeTime(of: address.path) == changed)
        try UnixSocket.setPermissions(SocketPermissions(), of: address)
        #expect(Files.mode(of: address.path) == S_IFSOCK | 0o600)
        #expect(Files.changeTime(of: address.path) != changed)
    }

    @Test("every socket is non-blocking and closed on exec")
    func flags() throws {
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let listener = try UnixSocket.listen(at: address, backlog: 1)
        let client = try UnixSocket.connect(to: address)
        for descriptor in [listener, client] {
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            close(descriptor)
        }
    }

    @Test("an inherited listener is made non-blocking and closed on exec")
    func inherits() throws {
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let descriptor = try UnixSocket.listen(at: address, backlog: 1)
        defer { close(descriptor) }
        #expect(fcntl(descriptor, F_SETFL, 0) == 0 && fcntl(descriptor, F_SETFD, 0) == 0)
        #expect(try UnixSocket.inheritListener(descriptor) == address)
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }
}
