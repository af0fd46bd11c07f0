#if Cluster
    import ReactorCluster

    /// The reason why a call to etcd has no answer.
    enum EtcdFailure: Error, Equatable {
        /// etcd has discarded the revision that the call names, so it did not carry out the call.
        case compacted
        /// Whether etcd carried out the call is not known. The text is for the operator.
        case outage(EngineOutage, reason: String)

        /// Classifies the result that ended a call.
        ///
        /// Only errors that etcd answers leave the connection usable. Servers use the same codes for
        /// errors of the transport, but the texts of etcd begin with `etcdserver:`.
        init(_ status: GRPCStatus) {
            let reason = "\(status.code): \(status.text)"
            guard status.text.hasPrefix("etcdserver: ") else {
                let isLate = status.code == .deadlineExceeded
                self = .outage(isLate ? .late : .disconnected, reason: reason)
                return
            }
            switch status.code {
            case .outOfRange where status.text.hasSuffix("revision has been compacted"):
                self = .compacted
            case .resourceExhausted where status.text.hasSuffix("database space exceeded"):
                self = .outage(.full, reason: reason)
            default: self = .outage(.error(status.text), reason: reason)
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
