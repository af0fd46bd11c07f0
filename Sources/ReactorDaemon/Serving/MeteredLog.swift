import ReactorCluster

/// A cluster's log, with counts of the calls to it and of what it reports.
///
/// *Place*: between a ``ClusterMember`` and its log. *Owner*: the loop's thread.
final class MeteredLog: LogEngine {
    var onEvent: ((EngineEvent) -> Void)?
    /// The counts.
    private(set) var meter = ClusterMeter()
    private let log: any ClusterLog
    private let now: () -> UInt64

    /// Counts what goes to `log` and comes from it; `now` is the time in nanoseconds.
    init(_ log: any ClusterLog, now: @escaping () -> UInt64) {
        (self.log, self.now) = (log, now)
        log.onEvent = { [unowned self] event in
            meter.record(event, at: self.now())
            onEvent?(event)
        }
    }

    func send(_ call: EngineCall) {
        meter.record(call, at: now())
        log.send(call)
    }

    /// Begins to connect.
    func open() { log.open() }

    /// Ends the connection, and reports nothing more.
    func close() {
        log.onEvent = nil
        log.close()
    }
}
