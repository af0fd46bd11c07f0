import Glibc

/// The listening socket that a service manager has opened for the process (socket activation).
///
///     if let socket = try InheritedSocket(environment, of: "reactord") { … }
///
/// The protocol is that of `sd_listen_fds(3)`: `LISTEN_PID` is the process, `LISTEN_FDS` the number
/// of sockets from descriptor 3 on, and `LISTEN_FDNAMES` has their names, with colons between them.
/// *Place*: a daemon serves this socket and opens none. *Owner*: the thread that starts the
/// process; nothing is opened or closed here.
package struct InheritedSocket: Equatable, Sendable {
    /// The socket's descriptor.
    package let descriptor: Int32

    /// The first descriptor that a service manager passes.
    private static let firstDescriptor: Int32 = 3

    /// `nil` if the environment names no sockets. `daemon` is the daemon's name, which the socket
    /// may have too.
    ///
    /// *Throws*: ``LoopError/unfitActivation(reason:)`` if the sockets are meant for another
    /// process, or are others than one of the daemon's name.
    package init?(
        _ environment: [String: String], of daemon: String, pid: Int32 = getpid()
    ) throws(LoopError) {
        let (owner, count) = (environment["LISTEN_PID"], environment["LISTEN_FDS"])
        guard owner != nil || count != nil else { return nil }
        guard owner == "\(pid)" else {
            throw .unfitActivation(
                reason: "LISTEN_PID is \(owner.map(\.escaped) ?? "missing"), expected \(pid), this "
                    + "process; let the service manager start the daemon itself, or unset it")
        }
        guard count == "1" else {
            throw .unfitActivation(
                reason: "LISTEN_FDS is \(count.map(\.escaped) ?? "missing"), expected 1: pass the "
                    + "daemon one ListenStream= socket")
        }
        let name = environment["LISTEN_FDNAMES"] ?? ""
        // A socket without a name has that of its unit, or `unknown`.
        guard ["", "unknown", daemon, daemon + ".socket"].contains(name) else {
            throw .unfitActivation(
                reason: "LISTEN_FDNAMES is \(name.escaped), expected \(daemon): set "
                    + "FileDescriptorName=\(daemon)")
        }
        descriptor = Self.firstDescriptor
    }
}

extension String {
    /// The text in quotation marks, safe for a terminal.
    fileprivate var escaped: String {
        "\"" + unicodeScalars.prefix(64).map { $0.escaped(asASCII: true) }.joined() + "\""
    }
}
