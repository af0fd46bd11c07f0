import ReactorCore
import Testing

@testable import ReactorServer

/// Nodes that clients have open while the tree removes them.
struct NodeOpeningsTests {
    /// A weak reference to a node.
    private struct Trace {
        weak var node: AnyNode?
    }

    private func node(_ path: String, _ harness: ServerHarness) throws -> AnyNode {
        try #require(try harness.server.tree.node(at: SlicePath(path)))
    }

    @Test("a removed child is released while the connections that opened it live")
    func removed() throws {
        let harness = ServerHarness()
        let clients = (harness.client(), harness.client())
        clients.0.open("/house")
        var traces: [Trace] = []
        for number in 1...300 {
            clients.0.dispatch(House.Action.build(name: "\(number)"))
            clients.0.open("/house/rooms/\(number)", as: UInt32(number))
            clients.1.open("/house/rooms/\(number)", as: UInt32(300 - number))
            harness.turn()
            traces.append(Trace(node: try node("/house/rooms/\(number)", harness)))
        }
        #expect(traces.allSatisfy { $0.node != nil } && harness.server.memory.openNodes == 300)
        for number in 1...300 { clients.0.dispatch(House.Action.tear(name: "\(number)")) }
        harness.turn()
        #expect(traces.allSatisfy { $0.node == nil } && harness.server.memory.openNodes == 0)
        _ = clients.0.frames()
        clients.0.dispatch(Tally.Action.add(by: 1), to: 7)
        clients.0.open("/visits", as: 7)
        clients.0.dispatch(Tally.Action.add(by: 1), to: 7)
        harness.turn()
        let log = try OutcomeLog(clients.0.frames())
        #expect(log[601]?.code == "NOT_FOUND" && log[602]?.isApplied == true)
    }

    @Test("a node is forgotten when its connection ends, or opens another in its place")
    func left() throws {
        let harness = ServerHarness()
        let clients = (harness.client(), harness.client())
        clients.0.open("/house")
        for name in ["a", "b"] { clients.0.dispatch(House.Action.build(name: name)) }
        clients.0.open("/house/rooms/a", as: 1)
        clients.1.open("/house/rooms/a", as: 1)
        clients.1.open("/house/rooms/a", as: 2)
        harness.turn()
        #expect(harness.server.memory.openNodes == 1)
        clients.1.open("/house/rooms/b", as: 1)
        harness.turn()
        #expect(harness.server.memory.openNodes == 2)
        clients.1.disconnect()
        #expect(harness.server.memory.openNodes == 1)
        clients.0.open("/visits", as: 1)
        harness.turn()
        // Nodes that are never removed are not counted.
        #expect(harness.server.memory.openNodes == 0)
    }

    @Test("each place of a node is given out once")
    func places() throws {
        let tree = TestTree.make()
        let harness = ServerHarness(tree)
        let client = harness.client()
        client.open("/house")
        client.dispatch(House.Action.build(name: "a"))
        harness.turn()
        let room = try node("/house/rooms/a", harness)
        let connection = Connection(id: client.id, peer: Peer(uid: 1, gid: 1, pid: 1))
        var openings = NodeOpenings()
        let first = NodeOpenings.Position(connection: connection, index: 1)
        let second = NodeOpenings.Position(connection: connection, index: 2)
        openings.move(first, from: nil, to: room)
        openings.move(second, from: nil, to: room)
        openings.move(first, from: room, to: tree.root)
        #expect(openings.remove(room) == [second])
        #expect(openings.remove(room).isEmpty && openings.count == 0)
        openings.move(first, from: nil, to: room)
        connection.nodes = [tree.root, room]
        openings.leave(connection)
        #expect(openings.count == 0)
    }
}
