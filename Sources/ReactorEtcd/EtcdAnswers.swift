#if Cluster
    import ReactorCluster

    /// Reads etcd's answers as the log's events.
    ///
    /// *Throws*: each reader throws an ``EtcdAnswerFault`` where a stored value cannot be decoded,
    /// or where the answer does not fit the request.
    struct EtcdAnswers: Sendable {
        let keys: ClusterKeys

        /// The event that answers `call`, from the answer to its transaction.
        func event(
            for call: EngineCall, _ answer: EtcdTxnResponse
        ) throws(EtcdAnswerFault) -> EngineEvent {
            var reader = EtcdAnswerReader(answer)
            let revision = try Self.number(answer.header.revision)
            switch call {
            case .look: return .sighting(try sighting(&reader))
            case .confirm:
                try reader.put()
                return .sighting(try sighting(&reader))
            case .announce:
                try reader.put()
                guard let key = try reader.key() else { throw .unexpected("no report") }
                return .announced(version: try Self.number(key.version))
            case .append(_, let expected, _):
                guard answer.succeeded else { return .refused(.append, try refusal(&reader)) }
                return .appended(LogPosition(number: expected + 1, revision: revision))
            case .beat:
                guard answer.succeeded else { return .refused(.beat, try refusal(&reader)) }
                return .beaten
            case .takeOver:
                guard answer.succeeded else { return .lost(try sighting(&reader)) }
                try reader.put()
                return .won(term: revision, head: try Self.position(try reader.key()))
            case .vacate:
                guard answer.succeeded else { return .refused(.vacate, try refusal(&reader)) }
                return .vacated(term: revision)
            case .watch, .unwatch, .compact: throw .unexpected("an answer to \(call.kind)")
            }
        }

        /// The events of a watch's answer, in order.
        func events(_ answer: EtcdWatchResponse) throws(EtcdAnswerFault) -> [EngineEvent] {
            if answer.compactRevision > 0 {
                return [.compacted(upTo: try Self.number(answer.compactRevision))]
            }
            if answer.canceled { return [.watchEnded(answer.cancelReason)] }
            var events: [EngineEvent] = []
            var entries: [StoredEntry] = []
            for event in answer.events where event.type == .put {
                if event.kv.key.elementsEqual(keys.log.utf8) {
                    entries.append(try Self.entry(event.kv))
                } else if event.kv.key.elementsEqual(keys.leader.utf8) {
                    if !entries.isEmpty { events.append(.entries(entries)) }
                    entries = []
                    events.append(
                        .leader(
                            term: try Self.number(event.kv.modRevision),
                            try Self.decoded { () throws(RecordError) in
                                try LeaderRecord(bytes: Array(event.kv.value))
                            }))
                }
            }
            if !entries.isEmpty { events.append(.entries(entries)) }
            return events
        }

        /// The base that a transaction has read; nil if the cluster has none.
        static func base(_ answer: EtcdTxnResponse) throws(EtcdAnswerFault) -> ClusterOrigin? {
            var reader = EtcdAnswerReader(answer)
            guard let key = try reader.key() else { return nil }
            return try decoded { () throws(RecordError) in
                try ClusterOrigin(bytes: Array(key.value))
            }
        }

        /// The names of the founded clusters among the keys that ``EtcdRequests/readClusters`` read.
        static func clusters(_ answer: EtcdTxnResponse) throws(EtcdAnswerFault) -> [String] {
            var reader = EtcdAnswerReader(answer)
            return try reader.keys().compactMap {
                ClusterKeys.cluster(withBase: String(decoding: $0.key, as: UTF8.self))
            }
        }

        /// Reads the values of ``EtcdRequests/state``.
        private func sighting(
            _ reader: inout EtcdAnswerReader
        ) throws(EtcdAnswerFault) -> LeaderSighting {
            let head = try Self.position(try reader.key())
            let leader = try reader.key()
            let beat = try reader.key()
            var nodes: [NodeSighting] = []
            for key in try reader.keys() {
                let report = try Self.decoded { () throws(RecordError) in
                    try NodeReport(bytes: Array(key.value))
                }
                nodes.append(NodeSighting(version: try Self.number(key.version), report: report))
            }
            return LeaderSighting(
                head: head, term: try Self.number(leader?.modRevision ?? 0),
                leader: try Self.record(leader), beat: try Self.number(beat?.modRevision ?? 0),
                // etcd sorts by key, which orders "10" before "2".
                nodes: nodes.sorted { $0.report.node < $1.report.node })
        }

        /// Reads the values of ``EtcdRequests/refusal``.
        private func refusal(
            _ reader: inout EtcdAnswerReader
        ) throws(EtcdAnswerFault) -> LogRefusal {
            let last = try reader.key()
            let leader = try reader.key()
            return LogRefusal(
                last: try last.map { key throws(EtcdAnswerFault) in try Self.entry(key) },
                term: try Self.number(leader?.modRevision ?? 0), leader: try Self.record(leader))
        }

        private static func record(
            _ key: EtcdKeyValue?
        ) throws(EtcdAnswerFault) -> LeaderRecord? {
            guard let key else { return nil }
            return try decoded { () throws(RecordError) in
                try LeaderRecord(bytes: Array(key.value))
            }
        }

        private static func entry(_ key: EtcdKeyValue) throws(EtcdAnswerFault) -> StoredEntry {
            StoredEntry(position: try position(key), bytes: Array(key.value))
        }

        private static func position(_ key: EtcdKeyValue?) throws(EtcdAnswerFault) -> LogPosition {
            guard let key else { return .beginning }
            return LogPosition(
                number: try number(key.version), revision: try number(key.modRevision))
        }

        private static func number(_ number: Int64) throws(EtcdAnswerFault) -> UInt64 {
            guard let number = UInt64(exactly: number) else {
                throw .unexpected("the number \(number)")
            }
            return number
        }

        private static func decoded<Value>(
            _ decode: () throws(RecordError) -> Value
        ) throws(EtcdAnswerFault) -> Value {
            do { return try decode() } catch { throw .damaged(error) }
        }
    }

    /// The reason why an answer from etcd cannot be used.
    enum EtcdAnswerFault: Error, Equatable, CustomStringConvertible {
        /// A stored value cannot be decoded.
        case damaged(RecordError)
        /// The answer does not fit the request.
        case unexpected(String)

        var description: String {
            switch self {
            case .damaged(let error): error.description
            case .unexpected(let found): "etcd answered \(found); is it a version from 3.4 to 3.6?"
            }
        }
    }

    /// Takes the parts of a transaction's answer, in the order of the requests.
    private struct EtcdAnswerReader {
        private var parts: ArraySlice<EtcdResponseOp>

        init(_ answer: EtcdTxnResponse) { parts = answer.responses[...] }

        /// The keys of the next part, which must be a read.
        mutating func keys() throws(EtcdAnswerFault) -> [EtcdKeyValue] {
            guard case .responseRange(let range)? = parts.popFirst()?.response else {
                throw .unexpected("no read where a transaction has one")
            }
            return range.kvs
        }

        /// The only key of the next part, which must be a read; nil if it does not exist.
        mutating func key() throws(EtcdAnswerFault) -> EtcdKeyValue? { try keys().first }

        /// Passes over the next part, which must be a write.
        mutating func put() throws(EtcdAnswerFault) {
            guard case .responsePut? = parts.popFirst()?.response else {
                throw .unexpected("no write where a transaction has one")
            }
        }
    }
#endif
