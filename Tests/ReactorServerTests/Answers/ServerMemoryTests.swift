import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The figures that limits bound.
struct ServerMemoryTests {
    @Test("the server reports its memory, and holds none for clients once all have gone")
    func figures() throws {
        let harness = ServerHarness()
        let (client, silent) = (harness.client(), harness.connect())
        client.open("/visits")
        client.subscribe("/visits")
        client.add(1)
        harness.turn()
        client.socket.room = 0
        client.add(1)
        client.add(1)
        harness.turn()
        client.dispatch(Tally.Action.ask)
        harness.turn()
        client.send(Array(TestClient.frame(.ping).prefix(7)))
        let memory = harness.server.memory
        #expect(memory.connections == 2 && memory.silentConnections == 1)
        #expect(memory.sessions == 1 && memory.slices == 1 && memory.subscriptions == 1)
        #expect(memory.inputBytesOfOne == 7)
        #expect(memory.updateBytesOfOne > 0 && memory.controlBytesOfOne > 0)
        #expect(memory.keptBytes == memory.keptBytesOfOne && memory.keptBytes > 7)
        #expect(memory.ringBytes > 0 && memory.snapshotBytes > 0)
        #expect(memory.outcomesOfOne == 2)
        client.disconnect()
        silent.disconnect()
        let rest = harness.server.memory
        #expect(rest.connections == 0 && rest.slices == 0 && rest.subscriptions == 0)
        #expect(rest.keptBytes == 0 && rest.snapshotBytes == 0 && rest.silentConnections == 0)
        // A client may reconnect, so its outcomes are kept.
        #expect(rest.sessions == 1 && rest.outcomesOfOne == 2)
    }

    @Test("a server that is released while clients are connected leaves nothing behind")
    func gone() {
        weak var root: AnyNode?
        weak var connection: Connection?
        weak var session: Session?
        func live() {
            let harness = ServerHarness()
            let client = harness.client()
            client.open("/visits")
            client.subscribe("/visits")
            client.add(1)
            harness.turn()
            root = harness.server.tree.root
            connection = harness.server.connections.values.first
            session = connection?.session
            #expect(root != nil && session != nil)
        }
        live()
        #expect(root == nil && connection == nil && session == nil)
    }
}
