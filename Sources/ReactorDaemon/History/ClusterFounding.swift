package import Logging
package import ReactorCluster
import ReactorJournal
import ReactorLoop
import ReactorWire

/// Founds the cluster of a configuration: its history continues that of this node's data directory,
/// which the daemon must not use at the same time.
///
///     let founding = try ClusterFounding(of: config, environment: environment, uid: uid, logger)
///     // founding.line: "founded cluster house: its history begins after row 0; …"
///
/// *Place*: behind `reactord cluster init`. It may run again: a cluster is founded once.
/// *Cost*: reads the whole journal, and verifies its checksums.
package struct ClusterFounding {
    /// The result, for the operator.
    package let line: String

    /// Puts the beginning of a cluster's history where all nodes find it, unless there is one.
    /// Returns the beginning that the cluster has.
    package typealias Found = (ClusterConfig, ClusterOrigin) throws(DaemonError) -> ClusterOrigin

    /// Reads the beginning of a cluster's history; nil if there is none.
    package typealias Existing = (ClusterConfig) throws(DaemonError) -> ClusterOrigin?

    /// Founds the cluster in its engine. A data directory that does not exist is made, with an empty
    /// history, unless the cluster exists.
    ///
    /// *Throws*: if the configuration lacks `cluster:` or `data:`; if the directory cannot be used,
    /// needs a new epoch first, or has rows of a cluster's log; if the engine does not answer; or if
    /// the cluster exists with another history.
    package init(
        of config: DaemonConfig, environment: [String: String], uid: UInt32, _ logger: Logger
    ) throws(DaemonError) {
        try self.init(
            of: config, environment: environment, uid: uid, logger,
            existing: { (cluster) throws(DaemonError) in try ClusterEngine.origin(of: cluster) },
            with: { (cluster, origin) throws(DaemonError) in
                try ClusterEngine.found(cluster, with: origin)
            })
    }

    /// Founds the cluster with `found`.
    ///
    /// *Throws*: as ``init(of:environment:uid:_:)``, and what `existing` and `found` throw.
    package init(
        of config: DaemonConfig, environment: [String: String], uid: UInt32, _ logger: Logger,
        existing: Existing, with found: Found
    ) throws(DaemonError) {
        guard let cluster = config.cluster else {
            throw .cluster("\(config.file) has no `cluster:`: such a daemon is alone")
        }
        guard let data = config.data else {
            throw .cluster("\(config.file) has no `data:`: a node of a cluster keeps its history")
        }
        let path = try History.path(data.directory, of: config.name, environment, uid: uid)
        // With another history, this node could not join the cluster.
        let isNew = !FileSystem.names(in: path).contains(SQLiteJournal.fileName)
        let former = try existing(cluster)
        if isNew, let there = former {
            line =
                "cluster \(cluster.name) exists already; "
                + (there.row.number == 0 || cluster.hasLinks
                    ? "start the daemon, which takes the history from the others"
                    : "make the data directory with `reactorctl backup --node` on another node")
            return
        }
        // Locked until the end, so that no daemon adds a row to the history in between.
        let history = try History(data, of: config.name, environment: environment, uid: uid, logger)
        let origin = try Self.origin(of: history)
        let there = try found(cluster, origin)
        line =
            former == nil && there == origin
            ? "founded cluster \(cluster.name): its history begins after row \(origin.row.number); "
                + "start the daemons now"
            : try Self.line(about: there, in: cluster, of: origin, in: history.directory.path)
        withExtendedLifetime(history) {}
    }

    /// The beginning of a cluster whose history continues this one.
    private static func origin(of history: History) throws(DaemonError) -> ClusterOrigin {
        let (directory, instance) = (history.directory, history.instance)
        let end: JournalPosition
        let words: [UInt64]?
        do throws(JournalError) {
            end = try JournalReader(directory).verifyRest()
            words = try SQLiteJournal.logWords(in: directory)
        } catch {
            throw .journal(error)
        }
        // With its place in another log, the directory would not find its place in the new one.
        if words != nil {
            throw .cluster(
                "\(directory.path) has rows of a cluster's log already: start its daemon; if the "
                    + "log is lost, make a copy with `reactord restore`, and found the cluster "
                    + "with that")
        }
        if end.number > 0, end.epoch == 0 {
            throw refusal(of: directory.path, "is a restored copy")
        }
        if history.opening.mayHaveLostTail {
            throw refusal(of: directory.path, "may have lost its last rows in a power cut")
        }
        return ClusterOrigin(
            instance: instance.words,
            epoch: end.number == 0 ? UInt64.random(in: 1 ... .max) : end.epoch,
            sequence: end.sequence, row: RowPosition(number: end.number, chain: end.chain),
            time: end.time)
    }

    /// The error for a history that needs a new epoch, which only a daemon that is alone begins.
    private static func refusal(of directory: String, _ reason: String) -> DaemonError {
        .cluster(
            "\(directory) \(reason), and begins an epoch of its own: start the daemon once without "
                + "`cluster:`, stop it, and found the cluster then")
    }

    /// What to say about a cluster that began with `there` before, after an attempt to begin it with
    /// `own`.
    private static func line(
        about there: ClusterOrigin, in cluster: ClusterConfig, of own: ClusterOrigin,
        in directory: String
    ) throws(DaemonError) -> String {
        guard there.instance != own.instance else {
            return "cluster \(cluster.name) exists already, with the history of \(directory): its "
                + "log begins after row \(there.row.number); start the daemons now"
        }
        let remedy =
            there.row.number == 0 || cluster.hasLinks
            ? "remove the directory, and start the daemon, which takes the history from the "
                + "others; or replace it by a backup that `reactorctl backup --node` makes "
                + "on another node"
            : "replace the directory by a backup that `reactorctl backup --node` makes on another "
                + "node, as the cluster's log begins after row \(there.row.number)"
        throw .cluster(
            "cluster \(cluster.name) exists already, with the history \(name(of: there)), and "
                + "\(directory) has \(name(of: own)): \(remedy)")
    }

    private static func name(of origin: ClusterOrigin) -> String {
        JournalInstance(words: origin.instance)?.description ?? "\(origin.instance)"
    }
}
