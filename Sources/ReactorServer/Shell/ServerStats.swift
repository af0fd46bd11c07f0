/// The server's counters since its start.
package struct ServerStats: Equatable, Sendable {
    /// Connections that were admitted.
    package var connectionsAccepted: UInt64 = 0
    /// Connections that were refused.
    package var turnedAway: UInt64 = 0
    /// Connections that were closed for a fault of their client.
    package var faults: UInt64 = 0
    /// Events that were not logged, as too many came.
    package var eventsLeftOut: UInt64 = 0
    /// Bytes that clients sent.
    package var bytesReceived: UInt64 = 0
    /// Actions received for the first time.
    package var actions: UInt64 = 0
    /// Actions that were refused.
    package var rejections: UInt64 = 0
    /// Actions received again.
    package var repeats: UInt64 = 0
    /// Ignored frames of unknown kinds.
    package var framesIgnored: UInt64 = 0
    /// Number of times that a client had a revision or an outcome that the history lacked.
    package var historyContradicted: UInt64 = 0
    /// Turns that changed something.
    package var turns: UInt64 = 0
    /// Number of times that a connection's queued updates were dropped for a snapshot.
    package var conflations: UInt64 = 0
    /// States encoded for mirrors.
    package var snapshotsEncoded: UInt64 = 0
    /// Whole values encoded for value slices.
    package var valuesEncoded: UInt64 = 0
    /// Patches encoded for value slices.
    package var patchesEncoded: UInt64 = 0
    /// Bytes of these values and patches.
    package var valueBytesEncoded: UInt64 = 0
    /// Lines that the log dropped, as its reader did not read them; the shell counts them.
    package var logLinesDropped: UInt64 = 0

    /// All zero.
    package init() {}

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
