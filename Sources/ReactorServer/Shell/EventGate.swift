import ReactorWire

/// Keeps a peer from filling the log: the first event of a kind is logged, and the events that follow it
/// within the interval are only counted.
///
/// *Place*: ``ShellOrders`` asks it before it logs an event. Each line carries the number of events that
/// were left out since the last line. ``invariants()`` states what holds between two verbs.
struct EventGate {
    /// What counts as the same event: one peer's fault of one kind.
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

    /// Nanoseconds for which an event is not logged again.
    let interval: UInt64
    /// Maximum number of remembered events; beyond it new ones are left out.
    let eventsMax: Int
    private var loggedAt: [Key: UInt64] = [:]
    private var order = ArrivalOrder<Key>()
    private var complaintsSince: UInt64 = 0
    private var complaintCount = 0
    /// Events left out since the last line.
    private(set) var leftOut: UInt64 = 0

    /// Maximum number of lines in an interval about faults that no peer caused.
    static let complaintsMax = 16

    init(interval: UInt64, eventsMax: Int) {
        self.interval = interval
        self.eventsMax = eventsMax
    }

    /// Events remembered.
    var count: Int { loggedAt.count }

    /// Answers how many events were left out before this one, or nil if it is left out itself.
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

    /// The same for a fault that no peer caused.
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

    /// What holds between two verbs; checked in debug builds.
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
