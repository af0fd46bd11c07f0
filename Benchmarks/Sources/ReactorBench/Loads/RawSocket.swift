import CBench
import Glibc

/// A blocking Unix socket without any layer above it.
final class RawSocket {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(connectingTo path: String) throws {
        descriptor = bench_connect(path)
        guard descriptor >= 0 else { throw LoadError("connect to \(path): errno \(errno)") }
    }

    /// Starts a process that echoes every message.
    init(echoing messageBytes: Int, onCore core: Int32) throws {
        descriptor = bench_start_echo(messageBytes, core)
        guard descriptor >= 0 else { throw LoadError("start the echo: errno \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw LoadError("write: errno \(errno)")
        }
    }

    /// Reads exactly `byteCount` bytes.
    func receive(_ byteCount: Int) throws {
        var count = 0
        while count < byteCount { count += try read(upTo: byteCount - count) }
    }

    /// Reads the bytes that have arrived, at least one.
    func receiveSome() throws -> ArraySlice<UInt8> {
        let count = try read(upTo: buffer.count)
        return buffer[..<count]
    }

    /// Reads up to the end of line number `count`, which must be the last that the peer sends.
    func receiveLines(count: Int) throws {
        var lines = 0
        while lines < count { lines += try receiveSome().count { $0 == 10 } }
    }

    /// Reads one line, which must be all that the peer has sent; returns its first byte.
    @discardableResult
    func receiveLine() throws -> UInt8 {
        var first: UInt8?
        while true {
            let count = try read(upTo: buffer.count)
            if first == nil { first = buffer[0] }
            if buffer[count - 1] == 10 { return first ?? 0 }
        }
    }

    private func read(upTo byteCount: Int) throws -> Int {
        let count = Glibc.read(descriptor, &buffer, byteCount)
        guard count > 0 else { throw LoadError("read: \(count), errno \(errno)") }
        return count
    }
}
