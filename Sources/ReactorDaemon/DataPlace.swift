import ReactorLoop

/// Where a daemon keeps its data, if its configuration does not say.
enum DataPlace {
    /// The first that fits who runs the daemon: $STATE_DIRECTORY (which systemd sets),
    /// /var/lib/reactord for root, $XDG_STATE_HOME/reactord, $HOME/.local/state/reactord.
    static func choose(_ environment: [String: String], uid: UInt32) -> String? {
        func absolute(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        // because systemd may name several, with colons between them
        if let state = absolute("STATE_DIRECTORY")?.split(separator: ":").first {
            return String(state)
        }
        if uid == 0 { return "/var/lib/reactord" }
        if let state = absolute("XDG_STATE_HOME") { return state + "/reactord" }
        return absolute("HOME").map { $0 + "/.local/state/reactord" }
    }
}
