package import ReactorCluster
import ReactorJournal
import ReactorLoop
import ReactorThreads

/// Gives a data directory the history of its cluster, in a copy that another node sends.
///
///     let joining = try ClusterJoining(of: config, environment: environment, uid: uid)
///     // joining.line: "copied the history of cluster house up to row 812 from node a"
///
/// *Place*: behind `reactord cluster join`, and before the start of a daemon whose directory has no
/// history, or a history that the cluster's log no longer continues. The daemon does not run meanwhile.
/// *Cost*: the other node copies and verifies its history, and this one verifies the copy.
package struct ClusterJoining {
    /// The result, for the operator.
    package let line: String

    /// Reads the beginning of a cluster's history; nil if there is none.
    package typealias Existing = (ClusterConfig) throws(DaemonError) -> ClusterOrigin?

    /// Takes a copy from the node `name`, or from any.
    ///
    /// *Throws*: if the configuration lacks `cluster:`, `data:` or `peer:`; if the directory has
    /// another history; or if no node sends a copy. The directory is as before then.
    package init(
        of config: DaemonConfig, environment: [String: String], uid: UInt32,
        from name: String? = nil
    ) throws(DaemonError) {
        try self.init(of: config, environment: environment, uid: uid, from: name) {
            (cluster) throws(DaemonError) in try ClusterEngine.origin(of: cluster)
        }
    }

    /// Does the same in the cluster that begins with what `existing` returns.
    ///
    /// If no node sends a copy, calls `onObstacles` with the reasons of all, and asks the nodes again,
    /// for `patience` in all. Calls `onProgress` about once a second or more often.
    init(
        of config: DaemonConfig, environment: [String: String], uid: UInt32,
        from name: String? = nil, patience: Duration = .zero,
        onProgress: @escaping () -> Void = {}, onObstacles: (String) -> Void = { _ in },
        existing: Existing
    ) throws(DaemonError) {
        guard let cluster = config.cluster else {
            throw .cluster("\(config.file) has no `cluster:`: such a daemon is alone")
        }
        let senders = try Self.senders(of: cluster, called: name, in: config.file)
        guard let origin = try existing(cluster),
            let instance = JournalInstance(words: origin.instance)
        else {
            throw .engine(
                "cluster \(cluster.name) does not exist yet: run `reactord cluster init` on one "
                    + "node")
        }
        let directory = try Self.directory(of: config, environment, uid, instance)
        let end = ContinuousClock.now + patience
        while true {
            var obstacles: [String] = []
            for sender in senders {
                do throws(CopyReceiver.Obstacle) {
                    let row = try Self.receive(
                        from: sender, of: cluster, instance, into: directory, onProgress)
                    line =
                        "copied the history of cluster \(cluster.name) up to row \(row) from node "
                        + sender.name
                    return
                } catch {
                    obstacles.append("\(sender.name): \(error.reason)")
                }
            }
            let reasons = obstacles.joined(separator: "; ")
            guard ContinuousClock.now < end else {
                throw .engine("no node sends a copy: \(reasons)")
            }
            onObstacles(reasons)
            onProgress()
            WorkThread.pause(for: .seconds(1))
        }
    }
}

extension ClusterJoining {
    static func path(
        _ config: DaemonConfig, _ environment: [String: String], _ uid: UInt32
    ) throws(DaemonError) -> String {
        guard let data = config.data else {
            throw .cluster("\(config.file) has no `data:`: a node of a cluster keeps its history")
        }
        return try History.path(data.directory, of: config.name, environment, uid: uid)
    }

    /// Opens the data directory, which has no history yet, or that of the cluster.
    private static func directory(
        of config: DaemonConfig, _ environment: [String: String], _ uid: UInt32,
        _ instance: JournalInstance
    ) throws(DaemonError) -> DataDirectory {
        let path = try path(config, environment, uid)
        if config.data?.directory == nil { History.makeParents(of: path) }
        do throws(JournalError) {
            let directory = try DataDirectory(at: path)
            if isEmpty(path) { return directory }
            let own = try JournalReader(directory).instance
            guard own == instance else {
                throw .missing(
                    file: path,
                    reason: "it has the history \(own), and the cluster has \(instance): move the "
                        + "directory away")
            }
            return directory
        } catch {
            throw .journal(error)
        }
    }

    /// Whether the directory at a path has no history, or does not exist.
    static func isEmpty(_ path: String) -> Bool {
        !FileSystem.names(in: path).contains(SQLiteJournal.fileName)
    }

    /// The other nodes with a peer socket; with `name`, only the node of that name.
    private static func senders(
        of cluster: ClusterConfig, called name: String?, in file: String
    ) throws(DaemonError) -> [ClusterConfig.Member] {
        let others = cluster.nodes.filter { $0.node != cluster.settings.node && $0.peer != nil }
        guard !others.isEmpty else {
            throw .cluster(
                "\(file) has no `peer:` for the nodes: add it, or copy the history with `reactorctl "
                    + "backup --node` on another node")
        }
        let found = others.filter { name == nil || $0.name == name }
        guard !found.isEmpty else {
            throw .cluster(
                "there is no other node \(name ?? ""): "
                    + others.map(\.name).joined(separator: ", "))
        }
        return found
    }

    /// Receives and installs a copy from a node. Returns the row with which it ends.
    private static func receive(
        from sender: ClusterConfig.Member, of cluster: ClusterConfig, _ instance: JournalInstance,
        into directory: DataDirectory, _ onProgress: @escaping () -> Void
    ) throws(CopyReceiver.Obstacle) -> UInt64 {
        let copy = try explained { () throws(JournalError) in try ReceivedCopy(for: directory) }
        let receiver = CopyReceiver(
            copy, of: cluster.name, as: cluster.settings.node,
            silenceMax: max(cluster.lostAfter, .seconds(5)) * 2, onProgress: onProgress)
        do throws(CopyReceiver.Obstacle) {
            _ = try receiver.receive(at: sender.peer ?? "")
            return try explained { () throws(JournalError) in
                try copy.install(as: instance, onProgress: onProgress).number
            }
        } catch {
            try? copy.discard()
            throw error
        }
    }

    private static func explained<Result>(
        _ body: () throws(JournalError) -> Result
    ) throws(CopyReceiver.Obstacle) -> Result {
        do throws(JournalError) {
            return try body()
        } catch {
            throw CopyReceiver.Obstacle(reason: "\(error)")
        }
    }
}
