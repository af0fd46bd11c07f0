import Glibc
import ReactorWire

/// A client's end of a socket without a client: the test sends and reads bytes itself.
final class RawSocket: Sendable {
    private let descriptor: Int32

    /// Connects; `nil` if no process listens at `path`, or its backlog is full.
    init?(_ path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { return nil }
        // A daemon that reads nothing must fail the test, not block its thread.
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends bytes; returns whether the other end accepted them.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress?.advanced(by: sent), bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            // A signal of another test interrupts a call that has a limit.
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Shuts down the writing side; reading continues.
    func shutDown() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Sends a frame.
    @discardableResult
    func send(
        _ kind: FrameKind, id: UInt32 = 0, number: UInt64 = 0, _ body: [UInt8] = []
    ) -> Bool {
        var writer = WireWriter()
        let frame = writer.beginFrame(kind, id: id, number: number)
        writer.raw(body)
        writer.endFrame(at: frame)
        return send(writer.bytes)
    }

    /// Whether bytes or the end of the stream arrive within this many milliseconds.
    func isReadable(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = unsafe poll(&entry, 1, milliseconds)
            guard count < 0, errno == EINTR else { return count == 1 }
        }
    }

    /// The kind and the body of the next frame; `nil` at the end, or after five minutes.
    func frame() -> (kind: FrameKind?, body: [UInt8])? {
        wholeFrame().map { (FrameKind(rawValue: $0.header.kind), $0.body) }
    }

    /// The next frame with its header; `nil` at the end, or after five minutes.
    func wholeFrame() -> (header: FrameHeader, body: [UInt8])? {
        guard let head = read(FrameHeader.byteCount),
            let header = try? FrameHeader.decode(
                head.span, at: 0, frameBytesMax: Int(UInt32.max)),
            let body = read(Int(header.length))
        else { return nil }
        return (header, body)
    }

    /// The bytes up to the end of the stream, or those of five minutes.
    func rest() -> [UInt8] {
        var bytes: [UInt8] = []
        while isReadable(within: 300_000) {
            var part = [UInt8](repeating: 0, count: 65_536)
            let got = unsafe recv(descriptor, &part, part.count, 0)
            guard got > 0 else { break }
            bytes += part[..<got]
        }
        return bytes
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var have = 0
        while have < count {
            guard isReadable(within: 300_000) else { return nil }
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe recv(descriptor, buffer.baseAddress?.advanced(by: have), count - have, 0)
            }
            guard got > 0 else { return nil }
            have += got
        }
        return bytes
    }
}

extension RawSocket {
    /// A valid first frame.
    static let hello: [UInt8] = {
        var writer = WireWriter()
        let frame = writer.beginFrame(.hello, number: Hello.magic)
        Hello(program: "raw").encode(into: &writer)
        writer.endFrame(at: frame)
        return writer.bytes
    }()

    /// Connects and completes the handshake; `nil` if the daemon refuses.
    static func welcomed(at path: String) -> RawSocket? {
        guard let socket = RawSocket(path), socket.send(hello), socket.frame()?.kind == .welcome
        else { return nil }
        return socket
    }

    /// Whether the daemon answers a ping.
    func isAnswered() -> Bool {
        var writer = WireWriter()
        writer.header(FrameHeader(kind: .ping, number: 1))
        return send(writer.bytes) && frame()?.kind == .pong
    }
}
