#if Cluster
    import FoundationEssentials
    import ReactorCluster
    @testable import ReactorEtcd
    import SwiftProtobuf
    import Testing

    /// ``EtcdRequests``, ``EtcdAnswers`` and ``EtcdFailure``, without etcd.
    struct EtcdAnswersTests {
        private let keys = ClusterKeys(name: "t")
        private var answers: EtcdAnswers { EtcdAnswers(keys: keys) }

        private func key(
            _ name: String, version: Int64 = 1, revision: Int64, _ value: [UInt8] = []
        ) -> EtcdKeyValue {
            .with {
                $0.key = Data(name.utf8)
                $0.version = version
                $0.modRevision = revision
                $0.value = Data(value)
            }
        }

        private func event(_ key: EtcdKeyValue, _ type: EtcdEvent.EventType = .put) -> EtcdEvent {
            .with {
                $0.type = type
                $0.kv = key
            }
        }

        @Test("an append has the bytes of etcd's own messages")
        func bytes() throws {
            let request = EtcdRequests(keys: keys).transaction(
                for: .append(entry: [1, 2], expected: 300, term: 7))
            let log = Array("/reactord/t/log".utf8)
            let leader = Array("/reactord/t/leader".utf8)
            #expect(log.count == 15 && leader.count == 18)
            var expected: [UInt8] = []
            // compare: key (3), version (4)
            expected += [0x0a, 20, 0x1a, 15] + log + [0x20, 0xac, 0x02]
            // compare: target (2) is the revision, key (3), mod_revision (6)
            expected += [0x0a, 24, 0x10, 2, 0x1a, 18] + leader + [0x30, 7]
            // success: request_put (2) with key (1) and value (2)
            expected += [0x12, 23, 0x12, 21, 0x0a, 15] + log + [0x12, 2, 1, 2]
            // failure: request_range (1) with key (1)
            expected += [0x1a, 19, 0x0a, 17, 0x0a, 15] + log
            expected += [0x1a, 22, 0x0a, 20, 0x0a, 18] + leader
            #expect(try request?.serializedBytes() == expected)
        }

        @Test("a foundation has the bytes of etcd's own messages, and depends on a missing base")
        func foundation() throws {
            let base = ClusterOrigin(
                instance: [1, 2, 3], epoch: 4, sequence: 5, row: RowPosition(number: 6, chain: 7),
                time: 8)
            let key = Array("/reactord/t/base".utf8)
            #expect(key.count == 16 && base.bytes.count == 65)
            // compare: key (3), version (4)
            var expected: [UInt8] = [0x0a, 20, 0x1a, 16] + key + [0x20, 0]
            // success: request_put (2) with key (1) and value (2)
            expected += [0x12, 87, 0x12, 85, 0x0a, 16] + key + [0x12, 65] + base.bytes
            // failure: request_range (1) with key (1)
            let read: [UInt8] = [20, 0x0a, 18, 0x0a, 16] + key
            expected += [0x1a] + read
            let requests = EtcdRequests(keys: keys)
            #expect(try requests.found(base).serializedBytes() == expected)
            #expect(try requests.readBase.serializedBytes() == [0x12] + read)
        }

        @Test("a base is read from the only part of an answer; without a key there is none")
        func base() throws {
            func answer(_ values: [[UInt8]]) -> EtcdTxnResponse {
                .with {
                    $0.responses = [
                        .with {
                            $0.responseRange.kvs = values.map { key(keys.base, revision: 1, $0) }
                        }
                    ]
                }
            }
            let base = ClusterOrigin(
                instance: [1, 2, 3], epoch: 0, sequence: 0, row: RowPosition(number: 0, chain: 7),
                time: 0)
            #expect(try EtcdAnswers.base(answer([base.bytes])) == base)
            #expect(try EtcdAnswers.base(answer([])) == nil)
            let damage = RecordError.invalid(
                record: "cluster base", at: 0, field: "format", got: 9)
            #expect(throws: EtcdAnswerFault.damaged(damage)) {
                try EtcdAnswers.base(answer([[9]]))
            }
            #expect(throws: EtcdAnswerFault.self) { try EtcdAnswers.base(EtcdTxnResponse()) }
        }

        @Test("a watch begins behind its position and covers leader and log")
        func watch() {
            let request = EtcdRequests(keys: keys).watch(
                after: LogPosition(number: 4, revision: 41))
            #expect(request.startRevision == 42 && request.fragment)
            #expect(request.key == Data("/reactord/t/leader".utf8))
            #expect(request.rangeEnd == Data("/reactord/t/log\0".utf8))
        }

        @Test("entries and leaders of a watch keep their order, and deletions are passed over")
        func order() throws {
            let record = record(2)
            let answer = EtcdWatchResponse.with {
                $0.events = [
                    event(key(keys.log, version: 1, revision: 5, [1])),
                    event(key(keys.log, version: 2, revision: 6, [2])),
                    event(key(keys.leader, revision: 7, record.bytes)),
                    event(key(keys.log, revision: 8), .delete),
                    event(key(keys.log, version: 3, revision: 9, [3])),
                ]
            }
            func entry(_ number: UInt64, _ revision: UInt64) -> StoredEntry {
                StoredEntry(
                    position: LogPosition(number: number, revision: revision),
                    bytes: [UInt8(number)])
            }
            #expect(
                try answers.events(answer) == [
                    .entries([entry(1, 5), entry(2, 6)]), .leader(term: 7, record),
                    .entries([entry(3, 9)]),
                ])
        }

        @Test("the end of a watch is compacted history, or has etcd's reason")
        func watchEnds() throws {
            let compacted = EtcdWatchResponse.with {
                $0.canceled = true
                $0.compactRevision = 12
            }
            #expect(try answers.events(compacted) == [.compacted(upTo: 12)])
            let canceled = EtcdWatchResponse.with {
                $0.canceled = true
                $0.cancelReason = "no"
            }
            #expect(try answers.events(canceled) == [.watchEnded("no")])
        }

        @Test("an answer with missing parts, or with an impossible number, is a fault")
        func faults() {
            let append = EngineCall.append(entry: [], expected: 0, term: 1)
            let refused = EtcdTxnResponse()
            #expect(throws: EtcdAnswerFault.self) { try answers.event(for: append, refused) }
            let announced = EtcdTxnResponse.with {
                $0.responses = [.with { $0.responseRange = .init() }]
            }
            let announce = EngineCall.announce(NodeReport(node: ClusterNode(1)))
            #expect(throws: EtcdAnswerFault.self) { try answers.event(for: announce, announced) }
            let negative = EtcdTxnResponse.with {
                $0.succeeded = true
                $0.header.revision = -1
            }
            #expect(throws: EtcdAnswerFault.unexpected("the number -1")) {
                try answers.event(for: append, negative)
            }
        }

        @Test("a failure that etcd answers keeps the connection, and every other ends it")
        func failures() {
            func outage(_ code: GRPCCode, _ text: String) -> EngineOutage {
                let failure = EtcdFailure(GRPCStatus(code: code, text: text))
                let isKept = text.hasPrefix("etcdserver: ")
                #expect(failure.endsConnection == !isKept)
                return failure.outage
            }
            let changed = "etcdserver: leader changed"
            #expect(outage(.unavailable, changed) == .error(changed))
            #expect(outage(.unavailable, "the stream broke") == .disconnected)
            #expect(outage(.cancelled, "cancelled") == .disconnected)
            #expect(outage(.unknown, "?") == .disconnected)
            #expect(outage(.deadlineExceeded, "timed out") == .late)
            #expect(
                outage(.resourceExhausted, "etcdserver: mvcc: database space exceeded") == .full)
            let busy = "etcdserver: too many requests"
            #expect(outage(.resourceExhausted, busy) == .error(busy))
            let compacted = EtcdFailure(
                GRPCStatus(
                    code: .outOfRange,
                    text: "etcdserver: mvcc: required revision has been compacted"))
            guard case .compacted = compacted else {
                Issue.record("\(compacted)")
                return
            }
            #expect(!compacted.endsConnection)
        }
    }
#endif
