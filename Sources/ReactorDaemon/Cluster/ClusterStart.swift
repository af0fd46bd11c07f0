package import ReactorCluster
import ReactorJournal

/// What a daemon needs to join a cluster: its configuration, the log, and the beginning of the
/// common history.
package struct ClusterStart {
    package let config: ClusterConfig
    package let origin: ClusterOrigin
    package let log: any ClusterLog

    /// Joins the cluster of `config`, whose history began with `origin`.
    package init(_ config: ClusterConfig, _ origin: ClusterOrigin, _ log: any ClusterLog) {
        self.config = config
        self.origin = origin
        self.log = log
    }

    /// What to do with a directory that has another history than the cluster.
    var remedy: String {
        origin.row.number > 0 && !config.hasLinks
            ? "replace the directory by a backup that `reactorctl backup --node` makes on another node"
            : "move the directory away, and start the daemon again"
    }

    /// The identity that the journals of all nodes have.
    var instance: JournalInstance? { JournalInstance(words: origin.instance) }

    /// The position in the log of a node whose own history ends at `end`; `words` were stored with
    /// its last row.
    ///
    /// *Throws*: if the history is another one, or lacks the beginning of the cluster's.
    func position(
        after end: JournalPosition, words: [UInt64]?, in directory: String
    ) throws(DaemonError) -> AppliedPosition {
        if let words {
            if let position = AppliedPosition(after: end, behind: origin.row, words: words) {
                return position
            }
            throw .cluster(
                "\(directory) ends with row \(end.number), which is not from this cluster's log, or is "
                    + "from an earlier one: \(remedy)")
        }
        let row = RowPosition(number: end.number, chain: end.chain)
        guard row == origin.row else {
            throw .cluster(
                "\(directory) ends with row \(end.number), and the cluster's log begins after row "
                    + "\(origin.row.number): \(remedy)")
        }
        return AppliedPosition(row: row, entry: .beginning, term: 0)
    }
}

/// The log of a cluster, which connects to its engine by itself.
package protocol ClusterLog: LogEngine {
    /// Begins to connect, and does so after each end of the connection, until ``close()``.
    func open()

    /// Ends the connection.
    func close()
}
