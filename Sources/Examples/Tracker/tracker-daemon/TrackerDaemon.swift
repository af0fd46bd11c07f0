import ReactorDaemonCommand
import TrackerExample

/// `tracker-daemon`: serves an issue tracker; `tracker` is its client.
@main
struct TrackerDaemon: DaemonCommand {
    static let abstract = "Serves an issue tracker."
    static let version = "1.0"
    static var reactors: DaemonReactors { .root(Tracker()) }
}
