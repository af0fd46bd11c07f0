import Logging
import ReactorLoop
import ReactorServer

/// The warnings that a daemon repeats at most once per `logInterval`, whatever their number.
///
/// *Owner*: the daemon's thread, which passes the loop's time in nanoseconds.
struct DaemonWarnings {
    private let logger: Logger
    /// Minimum nanoseconds between two log lines about the same condition.
    var interval: UInt64
    private var parking = RisingCount()
    private var shortening = RisingCount()
    /// The last log line about the socket's file, and its time.
    private var lastSocket: (text: String, time: UInt64)?
    /// The status of which the service manager was last notified.
    private var lastStatus = "accepting all actions"
    /// Whether the log has that states have their maximum.
    private var wasStateFull = false

    init(_ logger: Logger, interval: UInt64) {
        self.logger = logger
        self.interval = interval
    }

    /// Warns that clients wait because of the descriptor limit; `count` is the listener's.
    mutating func parked(_ count: Int, at now: UInt64) {
        guard let rise = parking.rise(to: UInt64(count), at: now, every: interval) else { return }
        logger.warning(
            "out of file descriptors, clients wait to be accepted: raise RLIMIT_NOFILE",
            metadata: ["times": "\(rise)"])
    }

    /// Warns that effects and sagas post more jobs than a turn runs.
    mutating func shortened(_ jobs: TreeJobs, at now: UInt64) {
        guard let rise = shortening.rise(to: jobs.shortenedCount, at: now, every: interval) else {
            return
        }
        logger.warning(
            "effects and sagas post more jobs than a turn runs: check for a chain that repeats itself",
            metadata: [
                "perTurn": "\(TreeJobs.perTurnMax)", "turns": "\(rise)",
                "waiting": "\(jobs.waitingCount)",
            ])
    }

    /// The status for the service manager if other actions are admitted than at the last call. Logs
    /// whether states have `stateBytesMax`, which is `isStateFull`, if that has changed.
    mutating func status(of admission: Admission, isStateFull: Bool = false) -> String? {
        if isStateFull != wasStateFull {
            wasStateFull = isStateFull
            logger.warning(
                isStateFull
                    ? "limits.stateBytesMax is reached: accepting only actions that make states smaller"
                    : "states are below limits.stateBytesMax: accepting actions that add bytes")
        }
        let status = Self.status(admission, isStateFull: isStateFull)
        guard status != lastStatus else { return nil }
        lastStatus = status
        return "STATUS=\(status)"
    }

    private static func status(_ admission: Admission, isStateFull: Bool) -> String {
        switch admission {
        case .all where isStateFull:
            "limits.stateBytesMax is reached: accepting only actions that shrink states"
        case .all: "accepting all actions"
        case .limited: "data.bytesMax is reached: accepting only actions that shrink states"
        case .shrinking: "the disk is full: accepting only actions that shrink states"
        case .full: "the disk is full: read-only"
        case .following: "following another daemon: read-only"
        case .cut: "cut off from the daemon that it follows: serving no clients"
        }
    }

    /// Logs an event of the socket's file; the same text again only after the interval.
    mutating func socket(_ level: Logger.Level, _ text: String, path: String, at now: UInt64) {
        if let last = lastSocket, last.text == text, now - last.time < interval { return }
        lastSocket = (text, now)
        logger.log(level: level, "\(text)", metadata: ["socket": "\(path)"])
    }
}

/// A count that rises, and how much of it has been logged.
///
/// *Invariants*: the logged part is not greater than the last count.
struct RisingCount {
    private var logged: UInt64 = 0
    private var lastTime: UInt64?

    /// Returns the rise since the last one that was returned; nil without a rise, or if less than
    /// `interval` has passed. A count that fell belongs to a new listener and rises from zero.
    mutating func rise(to count: UInt64, at now: UInt64, every interval: UInt64) -> UInt64? {
        logged = min(logged, count)
        guard count > logged, lastTime.map({ now - $0 >= interval }) ?? true else { return nil }
        defer { (logged, lastTime) = (count, now) }
        return count - logged
    }
}
