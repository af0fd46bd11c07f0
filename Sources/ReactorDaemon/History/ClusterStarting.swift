package import Logging
import ReactorCluster
import ReactorLoop

/// Takes a copy of the cluster's history before a daemon starts that needs one, and starts the program
/// again if the daemon turns out to need one.
///
///     try starting.takeCopyIfNeeded()
///     // the daemon runs, and ends with an error
///     starting.startAgain(after: error) { flush() }
///
/// *Place*: around the run of a ``Daemon``. A process whose history is behind the log replaces itself
/// by a new start, which takes the copy before it opens the data directory: see ``ClusterJoining``.
package struct ClusterStarting {
    private let config: DaemonConfig
    private let environment: [String: String]
    private let uid: UInt32
    private let logger: Logger
    /// When the last copy was complete, or the process started.
    private var startedAt = ContinuousClock.now

    /// The time after which a process may take copies as if it had taken none.
    private static let timeMin = Duration.seconds(60)
    /// Maximum number of copies without that time between them. The leader may compact the entries
    /// after a copy while it is sent; the node then takes another one.
    private static let copiesMax = 3
    /// How long a start that needs a copy asks for one: another node may be starting as well.
    private static let patience = Duration.seconds(60)

    /// The variable that says that the process was behind the cluster's log before it started again,
    /// and how many copies it takes with this start.
    static let variable = "REACTORD_JOIN"

    /// Prepares a start with this configuration.
    package init(
        _ config: DaemonConfig, environment: [String: String], uid: UInt32, _ logger: Logger
    ) {
        self.config = config
        self.environment = environment
        copyCount = environment[Self.variable].map { Int($0) ?? 1 } ?? 0
        self.uid = uid
        self.logger = logger
    }

    private var isBehind: Bool { environment[Self.variable] != nil }
    /// Number of copies that were taken without a pause, with that of this start.
    private var copyCount: Int

    /// Takes a copy if the directory has no history, or if the process was behind the log. Does
    /// nothing without links, or if there is no cluster yet, or if no node sends a copy and the log
    /// has the whole history.
    ///
    /// *Throws*: as ``ClusterJoining``, if the daemon cannot start without a copy.
    package mutating func takeCopyIfNeeded() throws(DaemonError) {
        guard let cluster = config.cluster, config.data != nil, cluster.hasLinks else { return }
        let path = try ClusterJoining.path(config, environment, uid)
        guard isBehind || ClusterJoining.isEmpty(path),
            let origin = try ClusterEngine.origin(of: cluster)
        else { return }
        let isRequired = isBehind || origin.row.number > 0
        let supervisor = Supervisor(environment)
        var told: String?
        let tell = { (reasons: String) in
            if reasons != told { logger.warning("no node sends a copy yet: \(reasons)") }
            told = reasons
        }
        do throws(DaemonError) {
            let joining = try ClusterJoining(
                of: config, environment: environment, uid: uid,
                patience: isRequired ? Self.patience : .zero,
                onProgress: Self.notice(to: supervisor), onObstacles: tell
            ) { _ throws(DaemonError) in origin }
            logger.notice("\(joining.line)")
            startedAt = ContinuousClock.now
            copyCount = max(copyCount, 1)
        } catch {
            guard case .engine = error, !isRequired else { throw error }
        }
    }

    /// Tells a service manager, at most once a second, that the process goes on.
    private static func notice(to supervisor: Supervisor?) -> () -> Void {
        var last: ContinuousClock.Instant?
        return {
            let now = ContinuousClock.now
            if let last, now - last < .seconds(1) { return }
            last = now
            supervisor?.notify(
                "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=60000000\nSTATUS=taking the history from another node"
            )
        }
    }

    /// Whether the program starts again after this error, with which a process ends that has run for
    /// `time`: a copy may help, and the process has not just taken several.
    func mayStartAgain(after error: DaemonError, running time: Duration) -> Bool {
        guard case .fellBehind = error else { return false }
        return copies(running: time) <= Self.copiesMax && config.cluster?.hasLinks == true
    }

    /// Which copy in a row the next start takes, after a process that has run for `time`.
    func copies(running time: Duration) -> Int { time > Self.timeMin ? 1 : copyCount + 1 }

    /// Starts the program again if that may help; `prepare` is called before. Returns otherwise.
    package func startAgain(after error: DaemonError, prepare: () -> Void) {
        let time = ContinuousClock.now - startedAt
        guard mayStartAgain(after: error, running: time) else { return }
        logger.notice("starting again, with a copy of another node: \(error)")
        prepare()
        ProgramImage.restart(setting: Self.variable, to: "\(copies(running: time))")
    }
}
