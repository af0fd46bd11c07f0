import ReactorCluster
import ReactorWire

/// Counts a node's calls to the engine, and measures how long appends take.
///
///     meter.record(call, at: now)         // a call is made
///     meter.record(event, at: later)      // the engine reports something
///
/// *Place*: in the ``MeteredLog`` of a ``ClusterSeat``. *Shape*: the duration of an append is that from
/// its first call to the answer; a call that is repeated is the same append.
struct ClusterMeter {
    /// From the first call of an append to the answer that the log has the entry.
    private(set) var appends = Histogram()
    /// Bytes of the appended entries.
    private(set) var appendedByteCount: UInt64 = 0
    /// Calls without an answer, or with an error instead of one.
    private(set) var engineErrors: UInt64 = 0
    /// Connections to the engine after the first.
    private(set) var engineReconnects: UInt64 = 0
    /// How often an append had no answer, so that the log may have its entry or not.
    private(set) var unknownAppends: UInt64 = 0
    /// Compactions of the log by this node.
    private(set) var compactions: UInt64 = 0
    private var hasConnected = false
    private var flight: Flight?

    /// An append of which it is not known whether the log has it.
    private struct Flight {
        let entry: [UInt8]
        let expected: UInt64
        let term: UInt64
        let sentAt: UInt64
    }

    /// Entries that the log has from this node.
    var appendedCount: UInt64 { appends.count }

    /// Records a call of the machine.
    mutating func record(_ call: EngineCall, at now: UInt64) {
        guard case .append(let entry, let expected, let term) = call else { return }
        if let flight, flight.expected == expected, flight.term == term { return }
        flight = Flight(entry: entry, expected: expected, term: term, sentAt: now)
    }

    /// Records what the engine reports.
    mutating func record(_ event: EngineEvent, at now: UInt64) {
        switch event {
        case .up:
            if hasConnected { engineReconnects += 1 }
            hasConnected = true
        case .unknown(let kind, _):
            engineErrors += 1
            if kind == .append { unknownAppends += 1 }
        case .appended: finish(at: now)
        case .refused(.append, let refusal):
            // The log may have the entry from an earlier call, whose answer was lost.
            if let last = refusal.last, let flight, last.bytes == flight.entry,
                last.position.number == flight.expected + 1
            {
                finish(at: now)
            }
            flight = nil
        case .trimmed: compactions += 1
        default: break
        }
    }

    private mutating func finish(at now: UInt64) {
        guard let sent = flight else { return }
        flight = nil
        appends.record(now - min(sent.sentAt, now))
        appendedByteCount += UInt64(sent.entry.count)
    }
}

/// A node's figures of its cluster at a moment.
///
/// *Place*: gathered on the loop; shown by `reactorctl stats` and as metrics.
struct ClusterFigures: Sendable {
    var role: ClusterRoleName
    /// Whether the node knows of a leader.
    var hasLeader: Bool
    /// Whether the node serves no client, as it does not know how old its state is.
    var isCut: Bool
    /// Connections that were refused or closed for that.
    var staleRefusals: UInt64
    /// The engine's revision at which the latest leadership began or ended.
    var term: UInt64
    /// Leaderships of this process.
    var takeovers: UInt64
    /// How many of them have ended.
    var depositions: UInt64
    var meter: ClusterMeter
    /// The last row of the node's tree that the log has.
    var appliedRow: UInt64
    /// The last row that any node has, as far as this one knows.
    var headRow: UInt64
    /// Entries that the log had at the last look, and the node has not read.
    var missingEntryCount: UInt64
    /// The age of the state in nanoseconds; nil if the node does not know.
    var age: UInt64?
    /// Bytes of the entries that were not compacted; nil on a node that does not lead.
    var logByteCount: Int?
    /// Milliseconds by which the leader's wall clock is ahead of this node's; nil if that is not
    /// known.
    var clockDifference: Int64?
}

extension ClusterFigures {
    /// Every figure by its name, for `reactorctl stats`.
    var named: [String: UInt64] {
        var all = [
            "clusterLeading": role == .leading ? 1 : 0, "clusterCut": isCut ? 1 : 0,
            "clusterLeaderKnown": hasLeader ? 1 : 0,
            "clusterTerm": term, "clusterTakeovers": takeovers,
            "clusterDepositions": depositions, "clusterAppliedRow": appliedRow,
            "clusterHeadRow": headRow, "clusterMissingEntries": missingEntryCount,
            "clusterAppendedEntries": meter.appendedCount,
            "clusterAppendedBytes": meter.appendedByteCount,
            "clusterEngineErrors": meter.engineErrors,
            "clusterEngineReconnects": meter.engineReconnects,
            "clusterUnknownAppends": meter.unknownAppends,
            "clusterStaleRefusals": staleRefusals, "clusterCompactions": meter.compactions,
        ]
        for (name, percent) in [("P50", 50), ("P99", 99)] as [(String, UInt64)] {
            all["clusterAppendMicros\(name)"] = meter.appends.bound(of: percent).map { $0 / 1_000 }
        }
        all["clusterAgeMs"] = age.map { $0 / 1_000_000 }
        all["clusterLogBytes"] = logByteCount.map { UInt64($0) }
        all["clusterClockDifferenceMs"] = clockDifference?.magnitude
        return all
    }
}
