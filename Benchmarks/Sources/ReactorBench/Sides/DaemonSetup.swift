/// What a daemon of a run serves, and what it keeps of it.
struct DaemonSetup {
    /// When snapshots are taken.
    enum Snapshots {
        /// Where they are by default.
        case byDefault
        /// Never, for as long as a run takes.
        case never
        /// One after the other, as long as something changes.
        case allTheTime
    }

    /// Counters under /many.
    var reactors = 0
    /// Whether it polls after traffic, which it does by default.
    var polls = true
    /// Whether there is a /map.
    var hasMap = false
    var keeping = Keeping.memory
    var snapshots = Snapshots.byDefault
    /// Where history is kept; `nil` for a directory of the daemon's own.
    var dataDirectory: String?

    /// The daemon's configuration.
    func text(socket: String) -> String {
        var text = """
            socket: \(socket)
            log:
              level: error
            limits:
              connectionsMax: 8192
              connectionsPerUIDMax: 8192
              handshakesMax: 8192
              nodesPerConnectionMax: 200000

            """
        if !polls { text += "loop: {spin: 0}\n" }
        if keeping != .memory, let dataDirectory {
            text += "data:\n  directory: \(dataDirectory)\n  durability: \(keeping.rawValue)\n"
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
