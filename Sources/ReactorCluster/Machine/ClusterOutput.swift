/// An order from the cluster's machine to its shell.
package enum ClusterOutput: Equatable, Sendable {
    /// Make this call to the engine.
    case call(EngineCall)
    /// Apply these committed rows to the tree, and store them with the position, in one
    /// transaction.
    case apply([LogRow], AppliedPosition)
    /// The log has the leader's own rows up to this position: outputs that depend on them may be
    /// sent. Store them with the position.
    case appended(AppliedPosition)
    /// This node leads. Its first row follows `after`.
    case promoted(term: UInt64, after: RowPosition)
    /// This node no longer leads. Forget all rows behind `after`, and send nothing that depends on
    /// them: the log may have some of them, and then they are among the next rows to apply.
    case deposed(term: UInt64, leader: LeaderRecord?, after: RowPosition)
    /// Cancel the running effects and start none: another node may lead from now on.
    case suspended
    /// Effects may run again: this node still leads.
    case resumed
    /// Append a row, also without a change: the engine's history can be compacted only up to an entry,
    /// and the last one is too old.
    case needsRow
    /// The leader has changed; nil if no leader is known.
    case leader(ClusterNode?)
    /// The engine does not answer; nil if it answers again.
    case outage(EngineOutage?)
    /// The engine no longer has the entries after this node's position. Install a snapshot of
    /// another node, then call ``ClusterMachine/restart(from:at:)``.
    case needsSnapshot(after: AppliedPosition)
    /// This node must stop; the machine does nothing more.
    case stop(ClusterFault)
}

/// The reason why a node must stop.
package enum ClusterFault: Error, Equatable, Sendable {
    /// The history of this node and that of the log are not the same.
    case forked(LogFork)
    /// The engine's answer contradicts its earlier answers.
    case contradiction(String)
    /// A value of the cluster's keys cannot be decoded.
    case damaged(RecordError)
}

extension ClusterFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .forked(let fork): "FORKED: \(fork)"
        case .contradiction(let what):
            "the engine contradicts itself: \(what); check its members' data, then start again"
        case .damaged(let error): "\(error)"
        }
    }
}

/// The role of a node in its cluster.
package enum ClusterRole: Equatable, Sendable {
    /// It applies the leader's rows.
    case following
    /// It asked the engine for the leadership, and has no answer yet.
    case candidate
    /// It leads, and decides in this term.
    case leading(term: UInt64)
    /// As `leading`, without a confirmation for so long that another node may lead.
    case suspended(term: UInt64)
    /// It appends the waiting rows, and then hands over the leadership.
    case steppingDown(term: UInt64)
    /// It is too far behind, and waits for a snapshot.
    case awaitingSnapshot
    /// It stopped for a fault.
    case stopped
}
