/// The configuration of a measured daemon.
struct DaemonSetup {
    /// When snapshots are taken.
    enum Snapshots {
        /// At the daemon's defaults.
        case byDefault
        /// Never during a run.
        case never
        /// One after another, as long as the state changes.
        case allTheTime
    }

    /// Number of counters under /many.
    var reactors = 0
    /// Whether the daemon polls after traffic, its default.
    var polls = true
    /// Whether there is a /map.
    var hasMap = false
    var durability = ReplyDurability.memory
    var snapshots = Snapshots.byDefault
    /// The user that access rules let use the counter, and nothing else; `nil` without rules.
    var ruledUID: UInt32?
    /// The data directory; `nil` for a new one.
    var dataDirectory: String?

    /// The configuration file's text.
    func text(socket: String) -> String {
        let mode = ruledUID == nil ? "0600" : "0666"
        var text = """
            socket: {path: \(socket), mode: "\(mode)"}
            log:
              level: error
            limits:
              connectionsMax: 8192
              connectionsPerUIDMax: 8192
              handshakesMax: 8192
              nodesPerConnectionMax: 200000

            """
        if let ruledUID {
            text += "access:\n  rules:\n    - {path: /counter, to: {uid: \(ruledUID)}, may: use}\n"
            text += "    - {path: /map, to: anyone, may: none}\n"
        }
        if !polls { text += "loop: {spin: 0}\n" }
        if durability != .memory, let dataDirectory {
            text += "data:\n  directory: \(dataDirectory)\n  durability: \(durability.rawValue)\n"
            text += snapshotText
        }
        text += "reactors:\n  counter: {kind: counter}\n"
        if hasMap { text += "  map: {kind: map}\n" }
        if reactors > 0 {
            text += "  many:\n    children:\n"
            for index in 0..<reactors { text += "      c\(index): {kind: counter}\n" }
        }
        return text
    }

    private var snapshotText: String {
        switch snapshots {
        case .byDefault: ""
        case .never: "  snapshotBytes: 100GiB\n"
        case .allTheTime: "  snapshotInterval: 1s\n"
        }
    }
}
