#if Cluster
    import GRPCCore
    import ReactorCluster

    /// The reason why a call to etcd has no answer.
    enum EtcdFailure: Error {
        /// etcd has discarded the revision that the call names, so it did not carry out the call.
        case compacted
        /// Whether etcd carried out the call is not known. The text is for the operator.
        case outage(EngineOutage, reason: String)

        /// Classifies the error that ended a call.
        ///
        /// Only errors that etcd answers leave the connection usable. gRPC uses the same codes for
        /// its own errors, but the texts of etcd begin with `etcdserver:`.
        init(_ error: any Error) {
            guard let error = error as? RPCError else {
                self = .outage(.disconnected, reason: "\(error)")
                return
            }
            let cause = error.cause.map { " (\($0))" } ?? ""
            let reason = "\(error.code): \(error.message)\(cause)"
            guard error.message.hasPrefix("etcdserver: ") else {
                let isLate = error.code == .deadlineExceeded
                self = .outage(isLate ? .late : .disconnected, reason: reason)
                return
            }
            switch error.code {
            case .outOfRange where error.message.hasSuffix("revision has been compacted"):
                self = .compacted
            case .resourceExhausted where error.message.hasSuffix("database space exceeded"):
                self = .outage(.full, reason: reason)
            default: self = .outage(.error(error.message), reason: reason)
            }
        }

        /// The outage; a discarded revision counts as an error that etcd answered.
        var outage: EngineOutage {
            switch self {
            case .compacted: .error(reason)
            case .outage(let outage, _): outage
            }
        }

        /// The text for the operator.
        var reason: String {
            switch self {
            case .compacted: "etcd has discarded the revision"
            case .outage(_, let reason): reason
            }
        }

        /// Whether the connection is of no use after this failure.
        var endsConnection: Bool { [.disconnected, .late].contains(outage) }
    }
#endif
