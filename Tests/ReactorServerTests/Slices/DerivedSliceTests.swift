import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Sums its tallies, by a rule that an upgrade may change.
@Reactor
private struct Board {
    @Children var tallies = { (_: Int) in Tally() }
    /// The sum.
    @Derived var sum: Derivation<Int>

    init(weight: Int = 1) {
        sum = Derivation.sum(over: \Board.$tallies) { $0.count * weight }
    }

    enum Action { case open(Int) }
    struct State {}

    func mutate(action: Action) -> Mutations<Action> {
        switch action {
        case .open(let key): Mutations.none.creating($tallies, key)
        }
    }
}

/// Subscriptions to derived values.
struct DerivedSliceTests {
    private func board() throws -> (ServerHarness, TestClient) {
        let start = Recovery(of: Tree(Board(), epoch: 7), limits: ServerLimits())
        let harness = ServerHarness(try start.finish(epoch: 7, sequence: 0))
        let client = harness.client()
        client.open("/", as: 0)
        for key in 1...2 { client.dispatch(Board.Action.open(key)) }
        harness.turn()
        client.open("/tallies/1", as: 1)
        client.open("/sum", as: 2)
        harness.turn()
        _ = client.frames()
        return (harness, client)
    }

    @Test("a follower gets one value a turn, before the mark of the children's deltas")
    func oneValue() throws {
        let (harness, client) = try board()
        client.subscribe("/sum", .value)
        client.subscribe("/tallies/1", .replica)
        harness.turn()
        _ = client.frames()
        client.add(2, to: 1)
        client.add(3, to: 1)
        harness.turn()
        let frames = client.frames()
        let values = frames.filter { $0.kind == .value }
        #expect(values.count == 1)
        #expect(try values.first?.decode(Int.self) == 5)
        #expect(frames.count { $0.kind == .delta } == 2)
        let marks = frames.indices.filter { frames[$0].kind == .mark }
        #expect(marks.count == 1)
        let updates = frames.indices.filter { [.value, .delta].contains(frames[$0].kind) }
        #expect(updates.allSatisfy { $0 < marks[0] })
        // The value does not change, so its followers get nothing.
        client.add(0, to: 1)
        harness.turn()
        #expect(client.frames(.value).isEmpty)
    }

    @Test("a replica of a value is refused by value, and an action by its outcome")
    func requests() throws {
        let (harness, client) = try board()
        client.subscribe("/sum", .replica)
        client.dispatch(WireValue.null, to: 2)
        harness.turn()
        let frames = client.frames()
        let subscribed = try #require(frames.first { $0.kind == .subscribed })
        #expect(try subscribed.decode(Subscribed.self).byValue)
        #expect(try subscribed.decode(Subscribed.self).reactor == "derived Int")
        let text = "/sum is a derived value and takes no actions"
        let outcomes = frames.filter { $0.kind == .outcome }
        #expect(outcomes.contains { String(decoding: $0.body, as: UTF8.self).contains(text) })
    }

    @Test("a value is sent again to a client that comes back: an upgrade may have changed it")
    func comesBack() throws {
        let (harness, client) = try board()
        client.subscribe("/sum", .value, from: harness.server.tree.revision)
        client.subscribe("/tallies/1", .value, from: harness.server.tree.revision)
        harness.turn()
        let frames = client.frames()
        let starts = try frames.filter { $0.kind == .subscribed }
            .map { try $0.decode(Subscribed.self).start }
        #expect(starts == [.snapshot, .unchanged])
        #expect(frames.count { $0.kind == .value } == 1)
    }

    @Test("a new rule shows its value at once to a client that follows the parent's value")
    func upgrade() throws {
        let (harness, client) = try board()
        client.add(4, to: 1)
        harness.turn()
        let last = harness.server.tree.revision
        let recovery = Recovery(of: Tree(Board(weight: 10), epoch: 0), limits: ServerLimits())
        for batch in harness.rows { try recovery.replay(batch) }
        let again = ServerHarness(
            try recovery.finish(epoch: 7, sequence: last.sequence), secretsFrom: 5_000)
        func starts(from revision: Revision) throws -> [Subscribed.Start] {
            let reader = again.client()
            reader.subscribe("/", .value, from: revision)
            reader.subscribe("/", .replica, from: revision)
            reader.subscribe("/tallies", .value, from: revision)
            again.turn()
            let frames = reader.frames()
            let values = frames.filter { $0.kind == .value }
            for value in values {
                #expect(try value.decode(WireValue.self)["sum"] == 40)
            }
            return try frames.filter { $0.kind == .subscribed }
                .map { try $0.decode(Subscribed.self).start }
        }
        #expect(try starts(from: last) == [.snapshot, .unchanged, .unchanged])
        // A client that has seen a revision of this run has seen the value of today's rule.
        let writer = again.client()
        writer.open("/tallies/2", as: 1)
        writer.add(0, to: 1)
        again.turn()
        #expect(again.server.tree.revision.sequence == last.sequence + 1)
        #expect(
            try starts(from: again.server.tree.revision) == [.unchanged, .unchanged, .unchanged])
    }

    @Test("a description of the reactor has the types of its derived values")
    func described() throws {
        let source = AnswerSource(tree: Tree(Board(), epoch: 1))
        let name = try source.name(.description, "/")
        let encoding = source.capture(name, try source.locate(name)).encode()
        let description = try NodeDescription(wireBytes: encoding.bytes)
        #expect(description.children == ["sum", "tallies"])
        #expect(
            description.derived == [
                DerivedDescription(name: "sum", doc: "The sum.", value: Int.wireSchema)
            ])
        let collection = try source.name(.description, "/tallies")
        let other = source.capture(collection, try source.locate(collection)).encode()
        #expect(try NodeDescription(wireBytes: other.bytes).derived.isEmpty)
    }

    @Test("the journal has the children's deltas alone, and a restart computes the value")
    func restart() throws {
        let (harness, client) = try board()
        client.add(4, to: 1)
        harness.turn()
        let tree = Tree(Board(), epoch: 0)
        let recovery = Recovery(of: tree, limits: ServerLimits())
        for batch in harness.rows { try recovery.replay(batch) }
        let again = ServerHarness(
            try recovery.finish(epoch: 7, sequence: harness.server.tree.revision.sequence),
            secretsFrom: 5_000)
        #expect(recovery.newPaths.isEmpty && recovery.lostPaths.isEmpty)
        let reader = again.client()
        reader.subscribe("/sum", .value)
        again.turn()
        #expect(try reader.frames(.value).first?.decode(Int.self) == 4)
    }
}
