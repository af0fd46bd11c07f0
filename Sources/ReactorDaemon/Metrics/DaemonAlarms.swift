import ReactorServer

/// The conditions that need an operator now, for `reactorctl top`.
///
/// Each alarm holds at this moment and ends by itself; the log and the metrics have what happened
/// before.
struct DaemonAlarms {
    /// Which actions may run.
    var admission = Admission.all
    /// Whether the states have `limits.stateBytesMax`.
    var isStateFull = false
    /// How the memory relates to its ceiling.
    var pressure = MemoryPressure.none
    /// The memory and its ceiling as text.
    var memory = ""
    /// Whether the data directory is near its maximum size.
    var isDiskScarce = false
    /// Whether the last snapshot could not be written.
    var hasSnapshotFailed = false
    /// Whether the configuration in the file has problems.
    var isFileRefused = false

    /// The alarms as lines, the gravest first.
    var lines: [String] {
        var lines: [String] = []
        switch admission {
        case .full: lines.append("read-only: the journal cannot write, every action is refused")
        case .shrinking:
            lines.append("the disk is full: only actions that make states smaller are accepted")
        case .limited:
            lines.append(
                "the data directory has bytesMax: only actions that make states smaller are accepted"
            )
        case .cut:
            lines.append(
                "cut off: no client is served, as the daemon that this one follows is out of reach")
        case .all, .following: break
        }
        if isStateFull {
            lines.append(
                "the states have stateBytesMax: only actions that make states smaller are accepted")
        }
        if pressure != .none { lines.append(memory) }
        if hasSnapshotFailed { lines.append("the last snapshot could not be written: see the log") }
        if isDiskScarce, admission == .all {
            lines.append("the data directory is near bytesMax: it keeps only what a start needs")
        }
        if isFileRefused {
            lines.append("the configuration file has problems: the former one is in force")
        }
        return lines
    }
}
