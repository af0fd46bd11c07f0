import Testing

@testable import ReactorWire

/// The answer about a cluster.
struct ClusterAnswersTests {
    private static func status(leader: String?, _ fingerprints: [UInt64]) -> ClusterStatus {
        ClusterStatus(
            cluster: "house", node: "a", role: .following, isCut: false, leader: leader, term: 3,
            applied: 9, stored: 9, waiting: 0, age: 5, outage: nil, promotions: 0, depositions: 0,
            nodes: fingerprints.enumerated().map { index, fingerprint in
                ClusterNodeStatus(
                    name: ["a", "b", "c"][index], index: UInt8(index + 1), incarnation: 1,
                    applied: 9, stored: 9, durable: 9, time: nil, isLost: false,
                    fingerprint: fingerprint)
            })
    }

    @Test("a node differs if its reactors and the leader's are known, and are not the same")
    func differences() throws {
        let status = Self.status(leader: "b", [7, 5, 0])
        #expect(status.nodes.map { status.differs($0) } == [true, false, nil])
        let unknown = Self.status(leader: nil, [7, 5, 0])
        #expect(unknown.nodes.allSatisfy { unknown.differs($0) == nil })
        let older = Self.status(leader: "c", [7, 5, 0])
        #expect(older.nodes.allSatisfy { older.differs($0) == nil })
        #expect(try ClusterStatus(wireBytes: status.wireBytes()) == status)
    }
}
