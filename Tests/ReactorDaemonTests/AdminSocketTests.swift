import Foundation
import Glibc
import TestPrograms
import Testing

/// A real daemon with a socket for administrators.
///
/// Drives ``DaemonSockets``.
@Suite("The socket for administrators", .timeLimit(.minutes(10)))
struct AdminSocketTests {
    private let directory = TestDirectory()
    private var path: String { directory.path("admin") }

    private func start() async throws -> DaemonProcess {
        try await DaemonProcess.start(
            config: """
                admin: { socket: \(path) }
                limits: { connectionsMax: 2, ownerConnectionsReserved: 0 }
                \(DaemonProcess.example)
                """, in: directory)
    }

    private func tree() throws -> ChildProcess {
        try ChildProcess(
            Built.product("reactorctl"), ["tree", "--socket", path], in: directory,
            name: UUID().uuidString)
    }

    @Test(
        "X119: it reaches a daemon whose other socket has all its clients, and ends with the daemon"
    )
    func crowded() async throws {
        let daemon = try await start()
        let clients = (0..<2).map { _ in RawSocket.welcomed(at: daemon.socketPath) }
        #expect(clients.allSatisfy { $0?.isAnswered() == true })
        #expect(try await Reactorctl(daemon: daemon)("tree").code == 75)
        let tree = try tree()
        #expect(await tree.ended() == .exited(0), "\(tree.errors)")
        #expect(tree.output.contains("/visits"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(await daemon.stop() == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a removed file is bound again")
    func removed() async throws {
        let daemon = try await start()
        try FileManager.default.removeItem(atPath: path)
        #expect(
            await holds { daemon.log.contains("the socket's file was removed, bound it again") })
        let tree = try tree()
        #expect(await tree.ended() == .exited(0), "\(tree.errors)")
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("a path that cannot be bound ends the start, and leaves no other socket")
    func unusable() async throws {
        let file = try directory.write(
            "admin: { socket: \(directory.path("missing/admin")) }\n" + DaemonProcess.example,
            to: "r.yaml")
        let socket = directory.path("main")
        let daemon = try ChildProcess(
            Built.product("reactord"), ["--config", file, "--socket", socket], in: directory,
            name: "unusable")
        #expect(await daemon.ended() == .exited(69))
        #expect(daemon.errors.contains("missing"), "\(daemon.errors)")
        #expect(!FileManager.default.fileExists(atPath: socket))
    }
}
