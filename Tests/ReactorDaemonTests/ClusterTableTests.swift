import ReactorWire
import Testing

@testable import reactorctl

/// Drives ``TextTable`` too.
@Suite("reactorctl cluster status")
struct ClusterTableTests {
    private static let time: Int64 = 1_700_000_000_000

    /// The status of node `b`, which follows `a`; node `c` has never reported.
    private static let following = ClusterStatus(
        cluster: "house", node: "b", role: .following, isCut: false, leader: "a", term: 31,
        applied: 118, stored: 117, waiting: 1, age: 12, outage: nil, promotions: 2, depositions: 2,
        nodes: [
            node("a", 1, applied: 120, stored: 119, durable: 100, time: time - 250),
            node("b", 2, applied: 90, stored: 90, durable: 80, time: time - 4_000),
            ClusterNodeStatus(
                name: "c", index: 3, incarnation: 0, applied: 0, stored: 0, durable: 0, time: 0,
                isLost: true),
        ])

    private static func node(
        _ name: String, _ index: UInt8, applied: UInt64, stored: UInt64, durable: UInt64,
        time: Int64
    ) -> ClusterNodeStatus {
        ClusterNodeStatus(
            name: name, index: index, incarnation: 3, applied: applied, stored: stored,
            durable: durable, time: time, isLost: false)
    }

    @Test("a line about this node comes before a table of all, in which this one is as of now")
    func text() {
        #expect(
            ClusterTable(Self.following, at: Self.time).lines == [
                "node b of cluster house: following, leader a, serves clients, state 12ms old, "
                    + "1 row waiting",
                "NODE  INDEX  ROLE    APPLIED  BEHIND  STORED  DURABLE   CLOCK  LOST",
                "a         1  leader      120       0     119      100  -250ms",
                "b         2  this        118       2     117       80     0ms",
                "c         3                -       -       -        -       -  lost",
            ])
    }

    @Test("a leader stands in its own row as both; a clock that is ahead has a sign")
    func leading() {
        var status = Self.following
        (status.role, status.leader, status.waiting, status.applied) = (.leading, "b", 0, 125)
        status.nodes[0].time = Self.time + 3
        let lines = ClusterTable(status, at: Self.time).lines
        #expect(lines[0].contains(": leading, leader b, ") && lines[0].hasSuffix(" 0 rows waiting"))
        #expect(lines[2] == "a         1                    120       5     119      100   +3ms")
        #expect(lines[3] == "b         2  leader, this      125       0     117       80    0ms")
    }

    @Test("a node without a leader, a known age and clients says so, and why")
    func cut() {
        var status = Self.following
        (status.role, status.isCut, status.leader, status.age) = (.candidate, true, nil, nil)
        status.outage = "etcd is silent"
        let lines = ClusterTable(status, at: Self.time).lines
        #expect(
            lines[0]
                == "node b of cluster house: asking for the leadership, no leader is known, "
                + "serves no clients, age of the state unknown, 1 row waiting")
        #expect(lines[1] == "the engine does not answer: etcd is silent")
        #expect(lines.count == 6 && lines[2].hasPrefix("NODE"))
    }

    @Test("every role has words, and no figure of a daemon ends the program")
    func extremes() {
        var texts: Set<String> = []
        for role in ClusterRoleName.allCases {
            var status = Self.following
            status.role = role
            (status.age, status.waiting, status.applied) = (.max, .max, .max)
            status.nodes[0].time = .min
            let table = ClusterTable(status, at: Self.time)
            texts.insert(table.lines[0])
            #expect(table.lines[2].contains(" \(UInt64.max - 120) ") && !table.json.isEmpty)
        }
        #expect(texts.count == ClusterRoleName.allCases.count)
    }

    @Test("the line of JSON has the same, and no figures of a node that has never reported")
    func json() throws {
        let line = ClusterTable(Self.following, at: Self.time).json
        #expect(
            line.hasPrefix(
                #"{"cluster":"house","node":"b","role":"following","leader":"a","#
                    + #""servesClients":true,"term":31,"applied":118,"stored":117,"waiting":1,"#
                    + #""ageMilliseconds":12,"outage":null,"promotions":2,"depositions":2,"#
                    + #""nodes":["#))
        guard case .map(let map) = try WireValue(json: line), case .array(let nodes)? = map["nodes"]
        else {
            Issue.record("no nodes in \(line)")
            return
        }
        #expect(
            nodes == [
                [
                    "name": "a", "index": 1, "leader": true, "this": false, "lost": false,
                    "incarnation": 3, "applied": 120, "behind": 0, "stored": 119, "durable": 100,
                    "clockMilliseconds": -250,
                ],
                [
                    "name": "b", "index": 2, "leader": false, "this": true, "lost": false,
                    "incarnation": 3, "applied": 118, "behind": 2, "stored": 117, "durable": 80,
                    "clockMilliseconds": 0,
                ],
                [
                    "name": "c", "index": 3, "leader": false, "this": false, "lost": true,
                    "incarnation": 0,
                ],
            ])
    }
}
