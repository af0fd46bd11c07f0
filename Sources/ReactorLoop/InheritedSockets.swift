import Glibc

/// The listening sockets that a service manager has opened for the process (socket activation).
///
///     if let sockets = try InheritedSockets(environment, of: "reactord") { … }
///
/// The protocol is that of `sd_listen_fds(3)`: `LISTEN_PID` is the process, `LISTEN_FDS` the number
/// of sockets from descriptor 3 on, and `LISTEN_FDNAMES` has their names, with colons between them.
/// *Place*: a daemon adopts these sockets, and binds no others at their paths. *Owner*: the thread that starts the
/// process; nothing is opened or closed here.
package struct InheritedSockets: Equatable, Sendable {
    /// The descriptor of the socket for all clients, if there is one.
    package let main: Int32?
    /// The descriptor of the socket for administrators, if there is one.
    package let admin: Int32?

    /// The first descriptor that a service manager passes.
    private static let firstDescriptor: Int32 = 3

    /// `nil` if the environment names no sockets. `daemon` is the daemon's name, which the socket for
    /// all clients may have too; the socket for administrators has the name with `-admin`, also
    /// alone.
    ///
    /// *Throws*: ``LoopError/unfitActivation(reason:)`` if the sockets are meant for another
    /// process, or are others than these.
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
        let names = environment["LISTEN_FDNAMES"] ?? ""
        let adminNames = [daemon + "-admin", daemon + "-admin.socket"]
        switch count {
        case "1" where adminNames.contains(names):
            (main, admin) = (nil, Self.firstDescriptor)
        case "1":
            // A socket without a name has that of its unit, or `unknown`.
            guard ["", "unknown", daemon, daemon + ".socket"].contains(names) else {
                throw .unfitActivation(
                    reason: "LISTEN_FDNAMES is \(names.escaped), expected \(daemon) or "
                        + "\(daemon)-admin: set FileDescriptorName=\(daemon)")
            }
            (main, admin) = (Self.firstDescriptor, nil)
        case "2":
            let admin = daemon + "-admin"
            let isAdmin = names.split(separator: ":", omittingEmptySubsequences: false).map {
                $0 == admin || $0 == admin + ".socket"
                    ? true : $0 == daemon || $0 == daemon + ".socket" ? false : nil
            }
            guard isAdmin == [false, true] || isAdmin == [true, false] else {
                throw .unfitActivation(
                    reason: "LISTEN_FDNAMES is \(names.escaped), expected \(daemon):\(admin): set "
                        + "FileDescriptorName=\(daemon) and FileDescriptorName=\(admin)")
            }
            let (first, second) = (Self.firstDescriptor, Self.firstDescriptor + 1)
            (main, self.admin) = isAdmin[0] == true ? (second, first) : (first, second)
        default:
            throw .unfitActivation(
                reason: "LISTEN_FDS is \(count.map(\.escaped) ?? "missing"), expected 1 or 2: pass "
                    + "the daemon one ListenStream= socket, and one for administrators at most")
        }
    }
}

extension String {
    /// The text in quotation marks, safe for a terminal.
    fileprivate var escaped: String {
        "\"" + unicodeScalars.prefix(64).map { $0.escaped(asASCII: true) }.joined() + "\""
    }
}
