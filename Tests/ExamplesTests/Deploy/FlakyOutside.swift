import DeployExample
import ReactorCore
import Synchronization

/// The outside of a simulated coordinator: every third deployment fails, and every third attempt
/// to announce the end of a run.
final class FlakyOutside: Sendable {
    private struct Unreachable: Error {}

    private struct Log {
        var attempts = 0
        var announced: Set<RunID> = []
        var failed: Set<RunID> = []
    }

    private let log = Mutex(Log())

    /// The runs whose end was announced.
    var announced: Set<RunID> { log.withLock(\.announced) }

    /// The runs whose end was announced after an attempt had failed.
    var repeated: Set<RunID> { log.withLock { $0.announced.intersection($0.failed) } }

    /// The hooks of a coordinator that reaches this outside.
    var hooks: Hooks {
        Hooks(
            deploy: { deployment in
                if deployment.run.number % 3 == 0 { throw Rejection("broken", "a broken script") }
                return "deployed"
            },
            announce: { news in
                try self.log.withLock { log in
                    log.attempts += 1
                    if log.attempts % 3 == 0 {
                        log.failed.insert(news.run)
                        throw Unreachable()
                    }
                    log.announced.insert(news.run)
                }
            })
    }
}
