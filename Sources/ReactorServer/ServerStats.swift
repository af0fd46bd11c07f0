/// What the server has counted since it started.
public struct ServerStats: Equatable, Sendable {
    /// Connections that were let in.
    public var connectionsAccepted: UInt64 = 0
    /// Connections that were turned away.
    public var turnedAway: UInt64 = 0
    /// Connections that were closed for what they sent.
    public var faults: UInt64 = 0
    /// Events that were not told to the operator, because they came too often.
    public var eventsLeftOut: UInt64 = 0
    /// Bytes that clients sent.
    public var bytesReceived: UInt64 = 0
    /// Actions received for the first time.
    public var actions: UInt64 = 0
    /// Actions that were refused.
    public var rejections: UInt64 = 0
    /// Actions received again.
    public var repeats: UInt64 = 0
    /// Frames of kinds that nobody knows.
    public var framesIgnored: UInt64 = 0
    /// Times that a client knew a revision or an outcome that the history does not hold.
    public var historyContradicted: UInt64 = 0
    /// Turns that changed something.
    public var turns: UInt64 = 0
    /// Times that a connection's queued updates were dropped for a snapshot.
    public var conflations: UInt64 = 0
    /// States encoded for mirrors.
    public var snapshotsEncoded: UInt64 = 0
    /// Whole values encoded for value slices.
    public var valuesEncoded: UInt64 = 0
    /// Patches encoded for value slices.
    public var patchesEncoded: UInt64 = 0
    /// Bytes of these values and patches.
    public var valueBytesEncoded: UInt64 = 0
    /// Lines that the log dropped, because its reader did not take them; the shell counts them.
    public var logLinesDropped: UInt64 = 0

    /// Nothing counted yet.
    public init() {}

    /// Every counter by its name.
    var named: [String: UInt64] {
        [
            "connectionsAccepted": connectionsAccepted, "turnedAway": turnedAway,
            "faults": faults, "eventsLeftOut": eventsLeftOut, "bytesReceived": bytesReceived,
            "actions": actions,
            "rejections": rejections, "repeats": repeats, "framesIgnored": framesIgnored,
            "historyContradicted": historyContradicted,
            "turns": turns, "conflations": conflations, "snapshotsEncoded": snapshotsEncoded,
            "valuesEncoded": valuesEncoded, "patchesEncoded": patchesEncoded,
            "valueBytesEncoded": valueBytesEncoded, "logLinesDropped": logLinesDropped,
        ]
    }
}
