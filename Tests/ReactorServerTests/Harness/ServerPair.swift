import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// A leading server, a follower of it, and a client of the leader.
final class ServerPair {
    let leader: ServerHarness
    let follower: ServerHarness
    /// A client of the leader with `/visits`, `/other`, `/page`, `/house` open as 0 to 3.
    let client: TestClient
    /// Number of the leader's rows that the follower has.
    private(set) var followed = 0

    init(
        as node: UInt8 = 2, of tree: Tree = TestTree.make(),
        with own: Tree = TestTree.make(epoch: 99)
    ) throws {
        let recovery = Recovery(of: tree, limits: ServerLimits())
        leader = ServerHarness(try recovery.finish(epoch: 7, sequence: 0))
        leader.turn()
        follower = try Self.makeFollower(own, of: leader.rows, as: node)
        followed = leader.rows.count
        client = leader.start()
    }

    /// A follower that has recovered `rows`.
    static func makeFollower(
        _ tree: Tree = TestTree.make(epoch: 99), of rows: [Batch], as node: UInt8
    ) throws -> ServerHarness {
        let recovery = Recovery(of: tree, limits: ServerLimits())
        recovery.prepareToFollow()
        for row in rows { try recovery.replay(row) }
        return ServerHarness(
            following: try recovery.finish(epoch: 7, sequence: rows.last?.sequence ?? 0), as: node)
    }

    /// The rows that the follower lacks.
    func takeRows() -> [Batch] {
        defer { followed = leader.rows.count }
        return Array(leader.rows.dropFirst(followed))
    }

    /// Ends the leader's turn, and has the follower apply its rows.
    func step() throws {
        leader.settle()
        try follower.follow(takeRows())
        try compare()
    }

    /// Compares the trees: values, numbers, births, and the nodes' revisions.
    func compare() throws {
        func text(_ harness: ServerHarness) -> [String] {
            var lines: [String] = ["\(harness.server.tree.revision)"]
            harness.server.tree.forEachNode { node in
                var writer = WireWriter()
                node.encodeValue(into: &writer)
                let number = node.isDerived ? 0 : node.number
                lines.append(
                    "\(node.path) \(number) \(node.birthSequence) \(node.sequence) "
                        + "\(writer.bytes)")
            }
            return lines
        }
        #expect(text(leader) == text(follower))
    }
}
