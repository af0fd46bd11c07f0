import ReactorCluster
import Testing

/// The stored forms of ``LeaderRecord`` and ``NodeReport``.
struct RecordTests {
    private static let node = ClusterNode(2)
    private static let held = LeaderRecord.held(
        LeaderClaim(node: node, incarnation: 0x0102, attempt: 3))

    private static func report() -> NodeReport {
        var report = NodeReport(node: node)
        report.incarnation = 5
        report.applied = 1_000
        report.stored = 999
        report.durable = 900
        report.durablePosition = LogPosition(number: 40, revision: 77)
        report.snapshot = 800
        report.wallClock = -1
        report.fingerprint = .max
        report.peer = "/run/p.sock"
        return report
    }

    @Test("the bytes of a leader record are pinned")
    func leaderGolden() {
        #expect(Self.held.bytes == [1, 1, 2, 2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0])
        #expect(LeaderRecord.vacant(successor: nil).bytes == [1, 2, 0])
        #expect(LeaderRecord.vacant(successor: ClusterNode(3)).bytes == [1, 2, 3])
    }

    @Test("the bytes of a node report are pinned")
    func reportGolden() {
        let words: [[UInt8]] = [
            [5], [0xe8, 3], [0xe7, 3], [0x84, 3], [40], [77], [0x20, 3],
            Array(repeating: 0xff, count: 8), Array(repeating: 0xff, count: 8),
        ]
        let padded = words.flatMap { $0 + Array(repeating: 0, count: 8 - $0.count) }
        #expect(Self.report().bytes == [1, 2] + padded + [11, 0] + Array("/run/p.sock".utf8))
    }

    @Test("a record is decoded from its own bytes")
    func roundTrip() throws {
        for record in [Self.held, .vacant(successor: nil), .vacant(successor: Self.node)] {
            #expect(try LeaderRecord(bytes: record.bytes) == record)
        }
        #expect(try NodeReport(bytes: Self.report().bytes) == Self.report())
        #expect(
            try NodeReport(bytes: NodeReport(node: Self.node).bytes) == NodeReport(node: Self.node))
    }

    @Test("each truncation of a record and each byte behind its end is refused")
    func lengths() {
        for bytes in [Self.held.bytes, LeaderRecord.vacant(successor: nil).bytes] {
            for count in 0..<bytes.count {
                #expect(throws: RecordError.self) {
                    try LeaderRecord(bytes: Array(bytes.prefix(count)))
                }
            }
            #expect(
                throws: RecordError.excess(
                    record: "leader record", at: bytes.count, byteCount: 1)
            ) { try LeaderRecord(bytes: bytes + [0]) }
        }
        let bytes = Self.report().bytes
        for count in 0..<bytes.count {
            #expect(throws: RecordError.self) { try NodeReport(bytes: Array(bytes.prefix(count))) }
        }
        #expect(
            throws: RecordError.excess(record: "node report", at: bytes.count, byteCount: 1)
        ) { try NodeReport(bytes: bytes + [0]) }
    }

    @Test(
        "a value that no writer stores is refused by its field",
        arguments: [
            ([2, 2, 0], "format"), ([1, 3, 0], "kind"),
            ([1, 1, 0] + Array(repeating: 0, count: 16), "node"),
        ] as [([UInt8], String)])
    func invalidLeader(bytes: [UInt8], field: String) {
        let error = #expect(throws: RecordError.self) { try LeaderRecord(bytes: bytes) }
        #expect(error?.description.contains("\(field) is") == true)
    }

    @Test("a report with another format, without a node or with a broken address is refused")
    func invalidReport() {
        var (format, node, text) = (Self.report().bytes, Self.report().bytes, Self.report().bytes)
        format[0] = 9
        node[1] = 0
        text[text.count - 1] = 0xff
        for bytes in [format, node, text] {
            let error = #expect(throws: RecordError.self) { try NodeReport(bytes: bytes) }
            guard case .invalid? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test("the keys of a cluster are below its name")
    func keys() {
        let keys = ClusterKeys(name: "house")
        #expect(keys.leader == "/reactord/house/leader")
        #expect(keys.beat == "/reactord/house/beat")
        #expect(keys.log == "/reactord/house/log")
        #expect(keys.base == "/reactord/house/base")
        #expect(keys.node(ClusterNode(12)) == keys.nodes + "12")
        #expect(ClusterKeys.cluster(withBase: keys.base) == "house")
        for key in [keys.log, keys.nodes + "base", "/reactord/base", "/other/house/base"] {
            #expect(ClusterKeys.cluster(withBase: key) == nil, "\(key)")
        }
    }
}
