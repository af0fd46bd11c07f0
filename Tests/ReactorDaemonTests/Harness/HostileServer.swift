import Foundation
import Glibc
import ReactorThreads
import ReactorWire

/// A listener that sends the same bytes to every client, whatever the client sends, and never
/// closes.
final class HostileServer: Sendable {
    let path: String
    private let descriptor: Int32
    private let clients = Guarded<Int>(0)

    /// Number of accepted clients.
    var clientCount: Int { clients.withLock { $0 } }

    /// Listens at `path`, and sends `bytes` to each client.
    init?(at path: String, _ bytes: [UInt8]) {
        self.path = path
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(descriptor, 64) == 0 else { return nil }
        let count = clients
        Thread.detachNewThread {
            var clients: [Int32] = []
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { break }
                clients.append(client)
                count.withLock { $0 += 1 }
                _ = unsafe send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
            for client in clients { close(client) }
        }
    }

    deinit {
        // This ends the thread's `accept`.
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// The bytes of a welcome, followed by `frames`.
    static func greeting(_ frames: [(FrameKind, UInt64, [UInt8])]) -> [UInt8] {
        let welcome = Welcome(
            version: Hello.version, daemon: "mad \u{1b}[2J", epoch: 7, sequence: 0,
            session: [UInt8](repeating: 1, count: 16), isResumed: false, client: 1, ordinal: 0,
            limits: Welcome.Limits(
                frameBytesMax: 1 << 20, inFlightMax: 16, nodesMax: 16, subscriptionsMax: 16))
        return Self.frame(.welcome, 0, welcome.wireBytes())
            + frames.flatMap { Self.frame($0.0, $0.1, $0.2) }
    }

    /// The bytes of a frame.
    static func frame(_ kind: FrameKind, _ number: UInt64, _ body: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        let start = writer.beginFrame(kind, number: number)
        writer.raw(body)
        writer.endFrame(at: start)
        return writer.bytes
    }
}
