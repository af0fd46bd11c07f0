package import Logging
package import ReactorCluster
package import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorWire

/// Founds the cluster of a configuration: its history continues that of this node's data directory,
/// which the daemon must not use at the same time.
///
///     let founding = try ClusterFounding(
///         of: config, with: root, environment: environment, uid: uid, logger)
///     // founding.line: "founded cluster house: its history begins after row 0; …"
///
/// *Place*: behind `reactord cluster init`. It may run again: a cluster is founded once.
/// *Cost*: reads the whole journal, and verifies its checksums. A history that begins an epoch, such as
/// a backup, is replayed besides, as by a start of a daemon that is alone.
package struct ClusterFounding {
    /// The result, for the operator.
    package let line: String

    /// Puts the beginning of a cluster's history where all nodes find it, unless there is one.
    /// Returns the beginning that the cluster has.
    package typealias Found = (ClusterConfig, ClusterOrigin) throws(DaemonError) -> ClusterOrigin

    /// Founds the cluster in its engine. A data directory that does not exist is made, with an empty
    /// history, unless the cluster exists.
    ///
    /// *Throws*: if the configuration lacks `cluster:` or `data:`; if the directory cannot be used,
    /// cannot be replayed with `root`, or has rows of a cluster's log; if the engine does not answer;
    /// or if the cluster exists with another history.
    package init(
        of config: DaemonConfig, with root: some Reactor, environment: [String: String],
        uid: UInt32, _ logger: Logger
    ) throws(DaemonError) {
        try self.init(
            of: config, with: root, environment: environment, uid: uid, logger,
            existing: { (cluster) throws(DaemonError) in try ClusterEngine.origin(of: cluster) },
            found: { (cluster, origin) throws(DaemonError) in
                try ClusterEngine.found(cluster, with: origin)
            })
    }

    /// Founds the cluster with `found`.
    ///
    /// *Throws*: as ``init(of:with:environment:uid:_:)``, and what `existing` and `found` throw.
    package init(
        of config: DaemonConfig, with root: some Reactor, environment: [String: String],
        uid: UInt32, _ logger: Logger, existing: ClusterJoining.Existing, found: Found
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
        // Locked until the end, so that no daemon adds a row to the history in between. The engine
        // names a row that no power cut may take.
        var strict = data
        strict.durability = .strict
        let history = try History(
            strict, of: config.name, environment: environment, uid: uid, logger)
        var end = try Self.verifyEnd(of: history)
        let isFounded = former.map { Self.begins($0, after: end, of: history) } ?? false
        let reason = isFounded ? nil : Self.reasonForEpoch(of: history, endingAt: end)
        if let reason {
            if let there = former {
                throw .cluster(
                    "cluster \(cluster.name) exists already, and \(path) \(reason): "
                        + Self.remedy(there, in: cluster))
            }
            let formerEnd = end
            let failure = try Self.beginEpoch(of: history, root, config, uid)
            end = try Self.verifyEnd(of: history)
            guard end.number > formerEnd.number else {
                throw .diskFailed(
                    failure ?? "\(path): the first row of a new epoch was not stored")
            }
        }
        let origin = Self.origin(of: history, endingAt: end)
        let there = try found(cluster, origin)
        line =
            former == nil && there == origin
            ? "founded cluster \(cluster.name): its history begins after row \(origin.row.number)"
                + (reason.map { ", in a new epoch, as the directory \($0)" } ?? "")
                + "; start the daemons now"
            : try Self.line(about: there, in: cluster, of: origin, in: history.directory.path)
        withExtendedLifetime(history) {}
    }

    /// The reason why a start begins an epoch with this history; nil if it begins none.
    private static func reasonForEpoch(
        of history: History, endingAt end: JournalPosition
    ) -> String? {
        if end.number > 0, end.epoch == 0 { return "is a restored copy" }
        return history.opening.mayHaveLostTail
            ? "may have lost its last rows in a power cut" : nil
    }

    /// Whether a cluster begins with the end of this history.
    private static func begins(
        _ origin: ClusterOrigin, after end: JournalPosition, of history: History
    ) -> Bool {
        origin.instance == history.instance.words && origin.epoch == end.epoch
            && origin.row == RowPosition(number: end.number, chain: end.chain)
    }

    /// Does what the start of a daemon that is alone does with such a history: revisions of the
    /// former epoch are void, and former connections own nothing. No effect begins: those of the
    /// history are the first leader's. Returns what the disk reported.
    private static func beginEpoch(
        of history: History, _ root: some Reactor, _ config: DaemonConfig, _ uid: UInt32
    ) throws(DaemonError) -> String? {
        let loop: EventLoop
        do throws(LoopError) {
            loop = try EventLoop()
        } catch {
            throw .loop(error)
        }
        let shell = try ServerShell(
            root, on: loop, history: history, limits: config.limits, name: config.name,
            ownerUID: uid, random: { UInt64.random(in: .min ... .max) })
        var failure: String?
        shell.keeper?.onBroken = { failure = $0 }
        shell.keeper?.onFull = { failure = $0 }
        shell.begin()
        // Effects begin with the report of their row, which arrives while the loop closes.
        shell.keeper?.journal.onAppended = { _ in }
        shell.close()
        withExtendedLifetime(shell) { loop.close() }
        return failure
    }

    /// Verifies the checksums of a history; returns its end, which has no place in a cluster's log.
    private static func verifyEnd(of history: History) throws(DaemonError) -> JournalPosition {
        let directory = history.directory
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
        return end
    }

    /// The beginning of a cluster whose history continues this one.
    private static func origin(
        of history: History, endingAt end: JournalPosition
    ) -> ClusterOrigin {
        ClusterOrigin(
            instance: history.instance.words,
            epoch: end.number == 0 ? UInt64.random(in: 1 ... .max) : end.epoch,
            sequence: end.sequence, row: RowPosition(number: end.number, chain: end.chain),
            time: end.time)
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
        throw .cluster(
            "cluster \(cluster.name) exists already, with the history \(name(of: there)), and "
                + "\(directory) has \(name(of: own)): \(remedy(there, in: cluster))")
    }

    /// What to do with a directory that does not have the history of the cluster.
    private static func remedy(_ there: ClusterOrigin, in cluster: ClusterConfig) -> String {
        there.row.number == 0 || cluster.hasLinks
            ? "remove the directory, and start the daemon, which takes the history from the "
                + "others; or replace it by a backup that `reactorctl backup --node` makes "
                + "on another node"
            : "replace the directory by a backup that `reactorctl backup --node` makes on another "
                + "node, as the cluster's log begins after row \(there.row.number)"
    }

    private static func name(of origin: ClusterOrigin) -> String {
        JournalInstance(words: origin.instance)?.description ?? "\(origin.instance)"
    }
}
