import DeployExample
import Synchronization

/// Receives announcements and deployments, and fails at first.
final class AnnouncementSink: Sendable {
    private struct Failure: Error, CustomStringConvertible {
        var description: String { "out of order" }
    }

    private let state: Mutex<(failures: Int, all: [Announcement], deployments: [Deployment])>

    init(failures: Int = 0) { state = Mutex((failures, [], [])) }

    /// The announcements that succeeded.
    var all: [Announcement] { state.withLock(\.all) }
    /// The deployments, also those that failed.
    var deployments: [Deployment] { state.withLock(\.deployments) }

    /// The hooks that end here.
    var hooks: Hooks {
        Hooks(
            deploy: { deployment in
                try self.state.withLock { state in
                    state.deployments.append(deployment)
                    try Self.fail(&state.failures)
                }
                return "deployed"
            },
            announce: { news in
                try self.state.withLock { state in
                    try Self.fail(&state.failures)
                    state.all.append(news)
                }
            })
    }

    private static func fail(_ failures: inout Int) throws {
        guard failures > 0 else { return }
        failures -= 1
        throw Failure()
    }
}
