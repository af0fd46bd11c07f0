import ReactorCluster
import ReactorEtcd
import ReactorLoop

/// Reaches the engine of a cluster: etcd, in a build with the trait `Cluster`.
package enum ClusterEngine {
    /// Reads the beginning of the cluster's history, and prepares the log. Blocks until the engine
    /// answers, at most for a quarter of a minute.
    ///
    /// *Throws*: if it does not answer, or if the cluster does not exist yet.
    static func start(
        _ config: ClusterConfig, on loop: EventLoop
    ) throws(DaemonError) -> ClusterStart {
        #if Cluster
            guard let origin = try origin(of: config) else {
                throw .engine(
                    "cluster \(config.name) does not exist yet: run `reactord cluster init` on one "
                        + "node, and start the daemons after that")
            }
            do throws(LoopError) {
                let keys = ClusterKeys(name: config.name)
                let log = try EtcdLog(socket: config.engine, keys: keys, on: loop)
                return ClusterStart(config, origin, log)
            } catch {
                throw .loop(error)
            }
        #else
            throw missing
        #endif
    }

    /// The beginning of the cluster's history; nil if there is none. Blocks as ``start(_:on:)``.
    static func origin(of config: ClusterConfig) throws(DaemonError) -> ClusterOrigin? {
        #if Cluster
            do throws(EtcdFoundationError) {
                return try foundation(of: config).read()
            } catch { throw daemonError(error) }
        #else
            throw missing
        #endif
    }

    /// Begins the cluster's history with `origin`. Returns the origin that the cluster has: another
    /// one if it exists already. Blocks as ``start(_:on:)``.
    ///
    /// *Throws*: also if another cluster was founded in the same engine: each compacts the history of
    /// all keys there, and so would remove rows that no node of the other one may have on disk.
    static func found(
        _ config: ClusterConfig, with origin: ClusterOrigin
    ) throws(DaemonError) -> ClusterOrigin {
        #if Cluster
            do throws(EtcdFoundationError) {
                let foundation = foundation(of: config)
                let clusters = try foundation.clusters()
                guard clusters.isEmpty || clusters.contains(config.name) else {
                    throw EtcdFoundationError.unusable(
                        socket: config.engine,
                        reason: "it has the log of \(clusters.joined(separator: ", ")): give "
                            + "cluster \(config.name) an etcd of its own")
                }
                return try foundation.found(origin)
            } catch { throw daemonError(error) }
        #else
            throw missing
        #endif
    }

    /// Refuses `cluster:` in a program that was built without clusters.
    package static func check(_ config: ClusterConfig?) throws(DaemonError) {
        #if !Cluster
            guard config == nil else { throw missing }
        #endif
    }

    #if Cluster
        private static func foundation(of config: ClusterConfig) -> EtcdFoundation {
            // Members that start together need some seconds for their first election.
            EtcdFoundation(
                socket: config.engine, keys: ClusterKeys(name: config.name), deadline: .seconds(15))
        }

        private static func daemonError(_ error: EtcdFoundationError) -> DaemonError {
            switch error {
            case .silent, .undecided: .engine("\(error)")
            case .unusable: .cluster("\(error)")
            }
        }
    #else
        private static var missing: DaemonError {
            .cluster(
                "this program was built without clusters: install the package whose version ends with "
                    + "+cluster, or build with `swift build --traits Cluster`, or remove `cluster:` from "
                    + "the configuration")
        }
    #endif
}

extension ClusterStart {
    /// What a daemon with this configuration needs to join its cluster; nil without `cluster:`.
    /// Blocks as ``ClusterEngine/start(_:on:)``.
    init?(_ config: DaemonConfig, on loop: EventLoop) throws(DaemonError) {
        guard let cluster = config.cluster else { return nil }
        guard config.data != nil else {
            throw .cluster("a node of a cluster keeps its history: configure `data:`")
        }
        self = try ClusterEngine.start(cluster, on: loop)
    }
}

#if Cluster
    extension EtcdLog: ClusterLog {}
#endif
