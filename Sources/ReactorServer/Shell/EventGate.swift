import ReactorWire

/// Keeps a peer from filling the log: it admits the first event of a kind, and only counts those
/// that follow within the interval.
///
/// *Place*: ``ShellOrders`` asks it before it logs an event. Each line carries the number of events
/// that were omitted since the last line. ``invariants()`` states the invariants.
struct EventGate {
    /// Identifies equal events: one peer's fault of one kind.
    struct Key: Hashable {
        var uid: UInt32
        var pid: Int32
        var code: FaultCode

        init(_ peer: Peer, _ code: FaultCode) {
            uid = peer.uid
            pid = peer.pid
            self.code = code
        }
    }

    /// Nanoseconds during which an equal event is omitted.
    private(set) var interval: UInt64
    /// Maximum number of remembered events; above it new ones are omitted.
    private(set) var eventsMax: Int
    private var loggedAt: [Key: UInt64] = [:]
    private var order = ArrivalOrder<Key>()
    private var complaintsSince: UInt64 = 0
    private var complaintCount = 0
    /// Number of events omitted since the last line.
    private(set) var leftOut: UInt64 = 0

    /// Maximum number of lines in an interval about faults without a peer.
    static let complaintsMax = 16

    init(interval: UInt64, eventsMax: Int) {
        self.interval = interval
        self.eventsMax = eventsMax
    }

    /// Changes the limits, and forgets the oldest events beyond them.
    mutating func setLimits(interval: UInt64, eventsMax: Int) {
        self.interval = interval
        self.eventsMax = eventsMax
        while loggedAt.count > eventsMax, let first = order.first {
            order.remove(first)
            loggedAt[first] = nil
        }
        invariants()
    }

    /// Number of remembered events.
    var count: Int { loggedAt.count }

    /// Returns the number of events omitted before this one, or nil if this one is omitted.
    mutating func admit(_ peer: Peer, _ code: FaultCode, at now: UInt64) -> UInt64? {
        while let first = order.first, let time = loggedAt[first], now &- time >= interval {
            order.remove(first)
            loggedAt[first] = nil
        }
        let key = Key(peer, code)
        guard loggedAt[key] == nil, loggedAt.count < eventsMax else { return leaveOut() }
        loggedAt[key] = now
        order.append(key)
        return admitLine()
    }

    /// The same for a fault without a peer.
    mutating func admitComplaint(at now: UInt64) -> UInt64? {
        if now &- complaintsSince >= interval {
            complaintsSince = now
            complaintCount = 0
        }
        guard complaintCount < Self.complaintsMax else { return leaveOut() }
        complaintCount += 1
        return admitLine()
    }

    private mutating func admitLine() -> UInt64 {
        defer {
            leftOut = 0
            invariants()
        }
        return leftOut
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(loggedAt.count == order.count, "an event has no place, or no time")
        assert(loggedAt.count <= eventsMax, "\(loggedAt.count) events are remembered")
        assert(complaintCount <= Self.complaintsMax, "\(complaintCount) complaints are logged")
    }

    private mutating func leaveOut() -> UInt64? {
        leftOut += 1
        return nil
    }
}
