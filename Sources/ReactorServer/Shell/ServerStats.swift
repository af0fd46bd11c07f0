package import ReactorWire

/// Why a connection was refused.
package enum RefusalReason: String, CaseIterable, Sendable {
    /// The daemon is shutting down.
    case draining
    /// The daemon of a cluster does not know how old its state is. Open connections are closed for
    /// it, too, and where the daemon goes back to the rows of the log.
    case cut
    /// ``ServerLimits/connectionsMax`` connections are open.
    case connectionsMax
    /// ``ServerLimits/connectionsPerUIDMax`` connections of the user are open.
    case connectionsPerUIDMax
    /// ``ServerLimits/handshakesMax`` other connections have not sent a hello.
    case handshakesMax
    /// The process is near its memory ceiling, ``ServerLimits/memoryMax``.
    case memoryMax
}

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
    /// Actions that went to the leading daemon.
    package var forwarded: UInt64 = 0
    /// Number of epochs that began because history was or may have been cut.
    package var epochChanges: UInt64 = 0
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
    /// Number of times that a user had used its quota, so that nothing was read from its clients.
    package var quotaPauses: UInt64 = 0
    /// Number of times that input of a connection waited for the next turn, as its user had used
    /// ``ServerLimits/turnTimePerUID``.
    package var turnTimePauses: UInt64 = 0
    /// Number of times that input of a connection waited for the journal, as its user had
    /// ``ServerLimits/unreleasedBytesPerUIDMax``.
    package var backlogPauses: UInt64 = 0
    /// The figures that the shell counts.
    package var shell = ShellCounts()
    /// Connections that were refused, by the limit that they met.
    package var refusals: [RefusalReason: UInt64] = [:]
    /// Connections that were closed for a fault of their client, by the fault's code.
    package var faultsByCode: [FaultCode: UInt64] = [:]

    /// Requests and actions that were refused with ``FaultCode/forbidden``, by the name of the verb
    /// that the caller lacks.
    package private(set) var denials: [String: UInt64] = [:]

    /// All zero.
    package init() {}

    /// Counts a request or an action whose caller lacks the verb of this name.
    mutating func countDenial(of verb: String) { denials[verb, default: 0] &+= 1 }

    /// Counts a refused connection.
    mutating func countRefusal(_ reason: RefusalReason) {
        turnedAway &+= 1
        refusals[reason, default: 0] &+= 1
    }

    /// Counts a connection that was closed for a fault of its client.
    mutating func countFault(_ code: FaultCode) {
        faults &+= 1
        faultsByCode[code, default: 0] &+= 1
    }

    /// Every counter by its name.
    var named: [String: UInt64] {
        var all = [
            "connectionsAccepted": connectionsAccepted, "turnedAway": turnedAway,
            "faults": faults, "eventsLeftOut": eventsLeftOut, "bytesReceived": bytesReceived,
            "actions": actions,
            "epochChanges": epochChanges,
            "rejections": rejections, "repeats": repeats, "forwarded": forwarded,
            "framesIgnored": framesIgnored,
            "historyContradicted": historyContradicted,
            "turns": turns, "conflations": conflations, "snapshotsEncoded": snapshotsEncoded,
            "valuesEncoded": valuesEncoded, "patchesEncoded": patchesEncoded,
            "valueBytesEncoded": valueBytesEncoded, "logLinesDropped": shell.logLinesDropped,
            "quotaPauses": quotaPauses, "turnTimePauses": turnTimePauses,
            "backlogPauses": backlogPauses,
        ]
        if shell.diskBytesMax > 0 {
            all["diskBytes"] = shell.diskBytes
            all["diskBytesMax"] = shell.diskBytesMax
        }
        return all.merging(shell.cluster) { own, _ in own }
    }
}

/// Figures that the shell counts and the server shows.
package struct ShellCounts: Equatable, Sendable {
    /// Lines that the log dropped, as its reader did not read them.
    package var logLinesDropped: UInt64 = 0
    /// Bytes of disk that the data directory occupies.
    package var diskBytes: UInt64 = 0
    /// The maximum of ``diskBytes``; 0 without one.
    package var diskBytesMax: UInt64 = 0
    /// Figures of the daemon's cluster by their names; empty for a daemon that is alone.
    package var cluster: [String: UInt64] = [:]

    /// All zero.
    package init() {}
}
