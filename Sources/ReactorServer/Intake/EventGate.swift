import ReactorWire

/// Keeps a peer from filling the log: the first event of a kind is told, and those that follow it
/// within the interval are counted only.
///
/// *Place*: the server asks it before it tells the operator of an event. Who asks for a line is
/// told how many were left out since the last one, so that each is in the log, if only as a number.
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

    /// Nanoseconds for which an event is not told again.
    let interval: UInt64
    /// Most events remembered; where there are as many, new ones are left out too.
    let eventsMax: Int
    private var toldAt: [Key: UInt64] = [:]
    private var order = ArrivalOrder<Key>()
    private var complaintsSince: UInt64 = 0
    private var complaintCount = 0
    /// Lines left out since the last that was told.
    private(set) var leftOut: UInt64 = 0

    /// Most lines in an interval about what no single peer is to blame for.
    static let complaintsMax = 16

    init(interval: UInt64, eventsMax: Int) {
        self.interval = interval
        self.eventsMax = eventsMax
    }

    /// Events remembered.
    var count: Int { toldAt.count }

    /// Says how many lines were left out before this one, or `nil` if it is left out itself.
    mutating func admit(_ peer: Peer, _ code: FaultCode, at now: UInt64) -> UInt64? {
        while let first = order.first, let time = toldAt[first], now &- time >= interval {
            order.remove(first)
            toldAt[first] = nil
        }
        let key = Key(peer, code)
        guard toldAt[key] == nil, toldAt.count < eventsMax else { return leaveOut() }
        toldAt[key] = now
        order.append(key)
        return tell()
    }

    /// The same for a complaint that has no peer.
    mutating func admitComplaint(at now: UInt64) -> UInt64? {
        if now &- complaintsSince >= interval {
            complaintsSince = now
            complaintCount = 0
        }
        guard complaintCount < Self.complaintsMax else { return leaveOut() }
        complaintCount += 1
        return tell()
    }

    private mutating func tell() -> UInt64 {
        defer { leftOut = 0 }
        return leftOut
    }

    private mutating func leaveOut() -> UInt64? {
        leftOut += 1
        return nil
    }
}
