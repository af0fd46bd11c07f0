/// The data directory of a daemon whose configuration names none.
struct DefaultDataDirectory: Equatable {
    /// The directory's path.
    let path: String
    /// The environment variable or the user that determined the path, for the operator.
    let origin: String

    /// Chooses the first of these that applies: $STATE_DIRECTORY (set by systemd),
    /// /var/lib/reactord for root, $XDG_STATE_HOME/reactord, $HOME/.local/state/reactord. Returns
    /// nil if none does.
    init?(_ environment: [String: String], uid: UInt32) {
        func absolute(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        // systemd separates several directories with colons.
        if let state = absolute("STATE_DIRECTORY")?.split(separator: ":").first {
            (path, origin) = (String(state), "$STATE_DIRECTORY")
        } else if uid == 0 {
            (path, origin) = ("/var/lib/reactord", "the default for root")
        } else if let state = absolute("XDG_STATE_HOME") {
            (path, origin) = (state + "/reactord", "$XDG_STATE_HOME")
        } else if let home = absolute("HOME") {
            (path, origin) = (home + "/.local/state/reactord", "$HOME")
        } else {
            return nil
        }
    }
}
