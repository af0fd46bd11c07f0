import Glibc

/// The socket at which journald takes entries with fields, one in each datagram.
///
/// *Place*: behind a ``LineWriter``, on its thread. *Owner*: one thread sends.
package final class JournalSocket: Sendable {
    /// Where journald listens.
    package static let defaultPath = "/run/systemd/journal/socket"

    private let path: String
    private let descriptor: Int32

    /// Opens a socket for entries to `path`; nil if the path is too long, or no descriptor is free.
    package init?(at path: String = JournalSocket.defaultPath) {
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            return nil
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        self.path = path
    }

    deinit { close(descriptor) }

    /// Sends an entry, and waits while journald is busy. Returns false if journald does not take it.
    ///
    /// *C*: `sendto`, with the path each time: journald may have started again.
    package func send(_ entry: [UInt8]) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: path.utf8)
        }
        let addressByteCount = socklen_t(MemoryLayout<sockaddr_un>.size)
        while true {
            let count = unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe sendto(
                        descriptor, entry, entry.count, Int32(MSG_NOSIGNAL), $0,
                        addressByteCount)
                }
            }
            if count >= 0 { return true }
            if errno != EINTR { return false }
        }
    }

    /// Whether `descriptor` is connected to journald: `stream` is the environment's
    /// `JOURNAL_STREAM`, the device and the inode of the stream that journald reads.
    ///
    /// *C*: `fstat`.
    package static func reads(_ descriptor: Int32, stream: String?) -> Bool {
        var status = stat()
        guard let stream, unsafe fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}
