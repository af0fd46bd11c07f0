import ReactorBytes
import ReactorCore
import ReactorWire
import Synchronization
import Testing

@testable import ReactorServer

/// The order of outputs: none leaves before its cause is appended to the journal.
struct ServerOutputTests {
    private func start(_ harness: ServerHarness) -> TestClient {
        let client = harness.client()
        client.open("/visits")
        harness.turn()
        harness.append()
        _ = client.frames()
        return client
    }

    @Test("no output of a turn leaves before its batch is appended, and turns leave in order")
    func order() throws {
        let harness = ServerHarness()
        harness.appendsAtOnce = false
        let (writer, reader) = (start(harness), start(harness))
        reader.subscribe("/visits")
        harness.turn()
        _ = reader.frames()
        writer.add(1)
        harness.turn()
        writer.add(1)
        reader.send(.ping, number: 1)
        harness.turn()
        // The question came after the change, so even its answer depends on a row that is not
        // appended.
        reader.ask(.get(path: "/visits/count"))
        harness.turn()
        #expect(writer.frames().isEmpty && reader.frames().isEmpty)
        #expect(harness.unappended.count == 2)
        harness.append(1)
        #expect(try OutcomeLog(writer.frames()).outcomes.keys.sorted() == [1])
        #expect(reader.frames().map(\.kind) == [.delta, .mark])
        harness.append(1)
        #expect(try OutcomeLog(writer.frames()).outcomes.keys.sorted() == [2])
        #expect(reader.frames().map(\.kind) == [.pong, .delta, .mark, .answer])
    }

    @Test("batches have no gaps between them, and a turn without a change has none")
    func batches() {
        let harness = ServerHarness()
        let client = start(harness)
        for round in 1...5 {
            for _ in 0..<round { client.add(1) }
            harness.turn()
            client.dispatch(Tally.Action.refuse(text: ""))
            client.send(.ping)
            harness.turn()
        }
        #expect(harness.batches.map(\.after) == [0, 1, 3, 6, 10])
        #expect(harness.batches.map(\.sequence) == [1, 3, 6, 10, 15])
        #expect(harness.batches.allSatisfy { $0.epoch == 7 })
    }

    @Test("the deltas of all batches, replayed in order, give the state")
    func replay() throws {
        let harness = ServerHarness()
        let client = start(harness)
        let number = try #require(harness.server.tree.node(at: try SlicePath("/visits"))).number
        for amount in 1...20 {
            client.add(amount)
            if amount % 3 == 0 { client.dispatch(Tally.Action.refuse(text: "")) }
            if amount % 4 == 0 { harness.turn() }
        }
        harness.turn()
        var state = Tally.State()
        for batch in harness.batches {
            var offset = 0
            let bytes = Array(batch.deltas.storage[batch.deltas.range])
            for frame in TestClient.parse(bytes, from: &offset) where frame.id == number {
                var cursor = WireCursor()
                _ = try Origin.decode(frame.body.span, &cursor)
                while cursor.offset < frame.body.count {
                    let mutation = try Tally.Mutation.decode(frame.body.span, &cursor)
                    Tally().reduce(state: &state, mutation: mutation)
                }
            }
            #expect(offset == bytes.count)
        }
        #expect(try state == harness.tally("/visits"))
    }

    /// Collects the jobs that effects post, and runs effects when the test says so.
    private final class World: Sendable {
        let posted = Mutex<[@Sendable (Tree) -> Void]>([])
        let spawned = Mutex<[@Sendable () async -> Void]>([])

        var environment: TreeEnvironment {
            TreeEnvironment(
                post: { job in self.posted.withLock { $0.append(job) } },
                spawn: { work in
                    self.spawned.withLock { $0.append(work) }
                    return {}
                })
        }

        func run() async {
            for work in spawned.withLock({ work in
                defer { work = [] }
                return work
            }) {
                await work()
            }
        }

        func deliver(to server: Server) {
            for job in posted.withLock({ jobs in
                defer { jobs = [] }
                return jobs
            }) {
                server.perform(job)
            }
        }
    }

    @Test("effects start when their batch is appended; each emission is a revision with its cause")
    func effects() async throws {
        let world = World()
        let harness = ServerHarness(TestTree.make(environment: world.environment))
        harness.appendsAtOnce = false
        let client = start(harness)
        client.subscribe("/visits")
        client.dispatch(Tally.Action.work(by: 10))
        harness.turn()
        #expect(world.spawned.withLock(\.count) == 0)
        harness.append()
        #expect(world.spawned.withLock(\.count) == 1)
        _ = client.frames()
        await world.run()
        world.deliver(to: harness.server)
        #expect(harness.server.needsTurn)
        harness.turn()
        harness.append()
        #expect(try harness.tally("/visits").count == 11)
        let delta = try #require(client.frames(.delta).first)
        var cursor = WireCursor()
        #expect(try Origin.decode(delta.body.span, &cursor) == Origin(client: 1, ordinal: 1))
        #expect(delta.number == 2)
    }

    @Test("the sender of an action is notified at once when its effect throws")
    func effectFails() async throws {
        let world = World()
        let harness = ServerHarness(TestTree.make(environment: world.environment))
        let (client, other) = (start(harness), start(harness))
        client.dispatch(Tally.Action.fail)
        harness.turn()
        _ = client.frames()
        await world.run()
        world.deliver(to: harness.server)
        #expect(harness.server.needsTurn)
        harness.turn()
        let notice = try #require(client.frames(.notice).first)
        #expect(notice.number == 1)
        #expect(try notice.decode(Notice.self).code == "effectFailed")
        #expect(other.frames().isEmpty)
    }
}
