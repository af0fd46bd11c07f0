#if Cluster
    import FoundationEssentials
    import ReactorCluster
    import SwiftProtobuf

    /// Writes the calls of the log as requests of etcd, for the keys of one cluster.
    ///
    /// *Place*: between an ``EtcdLog`` and its connection; ``EtcdAnswers`` reads the answers.
    struct EtcdRequests: Sendable {
        let keys: ClusterKeys

        /// The transaction of a call; nil for watches and compactions, which are no transactions.
        func transaction(for call: EngineCall) -> EtcdTxnRequest? {
            switch call {
            case .announce(let report):
                let key = keys.node(report.node)
                return transaction([], [put(key, report.bytes), get(key, keysOnly: true)])
            case .look: return transaction([], state)
            case .confirm: return transaction([], [put(keys.probe, [])] + state)
            case .append(let entry, let expected, let term):
                return transaction(
                    [version(keys.log, expected), revision(keys.leader, term)],
                    [put(keys.log, entry)], refusal)
            case .beat(let term):
                return transaction([revision(keys.leader, term)], [put(keys.beat, [])], refusal)
            case .takeOver(let seen, let record):
                return transaction(
                    [
                        revision(keys.leader, seen.term), revision(keys.beat, seen.beat),
                        version(keys.log, seen.head.number),
                    ],
                    [put(keys.leader, record.bytes), get(keys.log, keysOnly: true)], state)
            case .vacate(let term, let successor):
                return transaction(
                    [revision(keys.leader, term)],
                    [put(keys.leader, LeaderRecord.vacant(successor: successor).bytes)], refusal)
            case .watch, .unwatch, .compact: return nil
            }
        }

        /// The transaction that reads the cluster's base.
        var readBase: EtcdTxnRequest { transaction([], [get(keys.base)]) }

        /// The transaction that stores the cluster's base if there is none, and otherwise reads it.
        func found(_ base: ClusterOrigin) -> EtcdTxnRequest {
            // The version is 0, as the create revision is, as long as the key does not exist.
            transaction(
                [version(keys.base, 0)], [put(keys.base, base.bytes)], [get(keys.base)])
        }

        /// The transaction that reads the keys of all clusters.
        static var readClusters: EtcdTxnRequest {
            .with { $0.success = [all(below: ClusterKeys.root, keysOnly: true)] }
        }

        /// The request to discard the history before `position`.
        func compaction(upTo position: LogPosition) -> EtcdCompactionRequest {
            .with { $0.revision = Int64(clamping: position.revision) }
        }

        /// The request to watch leader and log from behind `position` on.
        func watch(after position: LogPosition) -> EtcdWatchCreateRequest {
            .with {
                $0.key = Data(keys.leader.utf8)
                // The first key behind `log`.
                $0.rangeEnd = Data(keys.log.utf8) + [0]
                $0.startRevision = Int64(clamping: position.revision) + 1
                $0.fragment = true
            }
        }

        /// Reads of a failure branch, in the order of ``EtcdAnswers/refusal(_:)``.
        private var refusal: [EtcdRequestOp] { [get(keys.log), get(keys.leader)] }

        /// Reads of a look, in the order of ``EtcdAnswers/sighting(_:)``.
        private var state: [EtcdRequestOp] {
            [
                get(keys.log, keysOnly: true), get(keys.leader), get(keys.beat, keysOnly: true),
                Self.all(below: keys.nodes),
            ]
        }

        /// Reads all keys with a prefix, which ends with "/".
        private static func all(below prefix: String, keysOnly: Bool = false) -> EtcdRequestOp {
            .with {
                $0.requestRange = .with {
                    $0.key = Data(prefix.utf8)
                    // The first key that does not begin with the prefix: "/" becomes "0".
                    $0.rangeEnd = Data(prefix.utf8.dropLast()) + [UInt8(ascii: "/") + 1]
                    $0.keysOnly = keysOnly
                }
            }
        }

        private func transaction(
            _ conditions: [EtcdCompare], _ success: [EtcdRequestOp],
            _ failure: [EtcdRequestOp] = []
        ) -> EtcdTxnRequest {
            .with {
                $0.compare = conditions
                $0.success = success
                $0.failure = failure
            }
        }

        private func version(_ key: String, _ number: UInt64) -> EtcdCompare {
            .with {
                $0.target = .version
                $0.key = Data(key.utf8)
                $0.version = Int64(clamping: number)
            }
        }

        private func revision(_ key: String, _ number: UInt64) -> EtcdCompare {
            .with {
                $0.target = .mod
                $0.key = Data(key.utf8)
                $0.modRevision = Int64(clamping: number)
            }
        }

        private func put(_ key: String, _ value: [UInt8]) -> EtcdRequestOp {
            .with {
                $0.requestPut = .with {
                    $0.key = Data(key.utf8)
                    $0.value = Data(value)
                }
            }
        }

        private func get(_ key: String, keysOnly: Bool = false) -> EtcdRequestOp {
            .with {
                $0.requestRange = .with {
                    $0.key = Data(key.utf8)
                    $0.keysOnly = keysOnly
                }
            }
        }
    }
#endif
