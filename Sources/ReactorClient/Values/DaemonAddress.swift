/// Where a client looks for its daemon.
public enum DaemonAddress: Sendable, Hashable {
    /// At this path of a socket, and nowhere else.
    case socket(String)
    /// At the default paths of the daemon of this name: the name of its executable, unless its
    /// author declared another.
    ///
    /// The first path that accepts is used: `$XDG_RUNTIME_DIR/NAME.sock`, `/run/NAME/NAME.sock`,
    /// `/tmp/NAME-UID/NAME.sock` (not for root). If `$REACTORD_SOCKET` is set, only that path is
    /// tried.
    case daemon(String)

    /// The default paths of `reactord`.
    static let reactord = DaemonAddress.daemon("reactord")
}
