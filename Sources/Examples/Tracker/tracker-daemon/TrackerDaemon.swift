import Foundation
import ReactorCore
import ReactorDaemonCommand
import TrackerExample

/// `tracker-daemon`: serves an issue tracker for the client `tracker`.
@main
struct TrackerDaemon: DaemonCommand {
    static let abstract = "Serves an issue tracker."
    static let version = "1.0"
    static var reactors: DaemonReactors { .root(Tracker()) }

    /// Logs every new issue on standard error.
    static func whenOpen(_ tree: Tree) throws {
        let log = NodeTap<Tracker>(mutation: { mutation, _ in
            guard case .opened(let number, let title) = mutation else { return }
            let line = "opened \(number): \(title)\n"
            try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
        })
        try tree.reactor(Tracker.self).addTap(log).keep()
    }
}
