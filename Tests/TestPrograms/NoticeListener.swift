import Glibc

/// A service manager's end of `NOTIFY_SOCKET`, at an abstract address.
package final class NoticeListener {
    private let descriptor: Int32

    /// Binds a socket to an abstract address; nil if the address is in use.
    package init?(abstract name: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe UnsafeMutableRawBufferPointer(rebasing: field[1...]).copyBytes(from: name.utf8)
        }
        let byteCount = MemoryLayout<sa_family_t>.size + 1 + name.utf8.count
        let status = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(byteCount))
            }
        }
        // A missing datagram fails the test instead of blocking it.
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit,
            socklen_t(MemoryLayout<timeval>.size))
        guard status == 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Waits for the next datagram.
    package func receive() -> String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var count = 0
        // A signal of another test interrupts a call that has a limit.
        repeat {
            count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        } while count < 0 && errno == EINTR
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
