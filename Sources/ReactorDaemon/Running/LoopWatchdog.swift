import Glibc
import Logging
import ReactorLoop
import ReactorServer
import ReactorThreads

/// Counts the checks at which a loop had not moved since the check before.
struct MissedBeats {
    /// What a check asks for.
    enum Verdict: Equatable {
        /// The loop moves, or was reported already.
        case nothing
        /// The loop has not moved for a while: report where it is.
        case report
        /// The loop has not moved for too long: end the process.
        case end
    }

    /// Checks without a beat before a report, and before the end.
    static let (reportCount, endCount) = (2, 3)

    private var last: UInt64 = 0
    private var missedCount = 0

    /// Passes the number of beats at a check.
    mutating func check(_ beats: UInt64) -> Verdict {
        guard beats == last else {
            last = beats
            missedCount = 0
            return .nothing
        }
        missedCount += 1
        switch missedCount {
        case Self.reportCount: return .report
        case Self.endCount: return .end
        default: return .nothing
        }
    }
}

/// Reports which client's input a stuck loop was handling, and ends the process.
///
/// *Place*: a timer of the loop beats at a third of the timeout, and reports to the service manager's
/// watchdog. A thread checks these beats as often: it logs a report after two checks without one.
/// After three it ends the process, unless the service manager does so. Checks are counted and not
/// the time, so that a process that was stopped and continues is not ended. *Owner*: the loop's
/// thread. *C*: `abort`, so that a core shows where the loop was.
final class LoopWatchdog {
    /// The time between two beats, and between two checks.
    let interval: Duration
    /// Where the loop is.
    let position = LoopPosition()
    /// Whether the thread ends the process: if the configuration asks for it.
    private let endsProcess: Bool
    private let isClosed = Flag()
    private var ticker: LoopTimer?

    /// Makes a watchdog with the shorter one of the two timeouts that are not zero; nil without one.
    init?(timeout: Duration, _ supervisor: Supervisor?) {
        let timeouts = [timeout, supervisor?.watchdogTimeout ?? .zero].filter { $0 > .zero }
        guard let shortest = timeouts.min() else { return nil }
        endsProcess = timeout > .zero
        interval = shortest / MissedBeats.endCount
    }

    /// Starts the timer and the thread. `ordinal` returns the ordinal of the action that is marked as
    /// running.
    func start(
        on loop: EventLoop, _ supervisor: Supervisor?, _ logger: Logger,
        ordinal: @escaping @Sendable () -> UInt64?
    ) throws(LoopError) {
        let ticker = try LoopTimer(on: loop)
        ticker.onFire = { [position] in
            position.beat()
            supervisor?.keepAlive()
        }
        ticker.start(after: .zero, every: interval)
        self.ticker = ticker
        let checks = BeatChecks(
            interval: interval, position: position, endsProcess: endsProcess, isClosed: isClosed,
            logger: logger, ordinal: ordinal)
        if (try? WorkThread(name: "watchdog", takesSignals: false) { checks.run() }) == nil {
            logger.warning("the watchdog has no thread: it does not check the loop")
        }
    }

    /// Beats while the loop's thread waits for another process.
    func beat(_ supervisor: Supervisor?) {
        position.beat()
        supervisor?.keepAlive()
    }

    /// Ends the beats and the checks. The thread ends after its current pause.
    func close() {
        isClosed.raise()
        ticker?.close()
    }
}

/// The checks of a watchdog's thread.
private struct BeatChecks: Sendable {
    let interval: Duration
    let position: LoopPosition
    let endsProcess: Bool
    let isClosed: Flag
    let logger: Logger
    let ordinal: @Sendable () -> UInt64?

    /// Checks the beats until the watchdog is closed.
    func run() {
        var missed = MissedBeats()
        while true {
            WorkThread.pause(for: interval)
            guard !isClosed.isUp else { return }
            let (beats, client) = position.now
            switch missed.check(beats) {
            case .nothing: break
            case .report: report(client)
            case .end: if endsProcess { abort() }
            }
        }
    }

    private func report(_ client: LoopPosition.Client?) {
        var metadata: Logger.Metadata = [:]
        if let client { metadata["connection"] = "\(client.connection.rawValue)" }
        if let peer = client?.peer {
            metadata["uid"] = "\(peer.uid)"
            metadata["pid"] = "\(peer.pid)"
        }
        if let ordinal = ordinal() { metadata["ordinal"] = "\(ordinal)" }
        let work = client == nil ? "its own work" : "the input of a client"
        let end = endsProcess ? ": the watchdog aborts the daemon unless it continues" : ""
        logger.critical("the loop is stuck in \(work)\(end)", metadata: metadata)
    }
}
