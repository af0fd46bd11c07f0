import CLibUV
import Glibc

/// The service manager that started the process, if it wants status notices.
///
///     Supervisor(environment)?.notify("READY=1")
///
/// The protocol is that of `sd_notify(3)`: one datagram of lines to the socket in `NOTIFY_SOCKET`,
/// where a leading `@` stands for an abstract address. *Place*: a daemon that is ready, or about to
/// end. The notices are not confirmed: errors are ignored, and nothing waits.
package struct Supervisor: Sendable {
    private let path: String
    /// The time without ``keepAlive()`` after which the service manager aborts the process; nil if
    /// it does not watch it. *C*: `sd_watchdog_enabled(3)`.
    package let watchdogTimeout: Duration?

    /// `nil` if the environment names no service manager.
    package init?(_ environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.utf8.count > 1,
            path.utf8.count <= UnixAddress.pathBytesMax, path.hasPrefix("/") || path.hasPrefix("@")
        else { return nil }
        self.path = path
        let watched = environment["WATCHDOG_PID"]
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogTimeout =
            microseconds > 0 && (watched == nil || watched == "\(getpid())")
            ? .microseconds(microseconds) : nil
    }

    /// Tells the service manager's watchdog that the process is not stuck.
    package func keepAlive() { notify("WATCHDOG=1") }

    /// Sends lines such as `READY=1`, `STOPPING=1`, or `STATUS=` with a text for people.
    package func notify(_ lines: String) {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: path.utf8)
            // An abstract address begins with a NUL.
            if path.hasPrefix("@") { unsafe field[0] = 0 }
        }
        let bytes = Array(lines.utf8)
        let byteCount = MemoryLayout<sa_family_t>.size + path.utf8.count
        _ = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(
                    descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0,
                    socklen_t(byteCount))
            }
        }
    }
}
