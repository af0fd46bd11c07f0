import ReactorCore
import Testing

@Suite("a replica")
struct ReplicaTests {
    private func delta(_ mutations: [Tally.Mutation]) -> [UInt8] {
        mutations.flatMap { $0.wireBytes() }
    }

    @Test("staged changes take effect together, at the commit")
    func commits() throws {
        let replica = Replica(Tally())
        var state = Tally.State()
        state.sum = 5
        try replica.stage(state: state.wireBytes().span)
        try replica.stage(delta: delta([.added(1), .added(2)]).span, from: 0)
        #expect(replica.state.sum == 0)
        replica.commit()
        #expect(replica.state.sum == 8)
        replica.commit()
        #expect(replica.state.sum == 8)
    }

    @Test("mutations before the first state, and before a newer one, have no effect")
    func replaced() throws {
        let replica = Replica(Tally())
        try replica.stage(delta: delta([.added(1)]).span, from: 0)
        #expect(!replica.hasState)
        try replica.stage(state: Tally.State().wireBytes().span)
        try replica.stage(delta: delta([.added(2)]).span, from: 0)
        try replica.stage(state: Tally.State().wireBytes().span)
        replica.commit()
        #expect(replica.state.sum == 0 && replica.hasState)
    }

    @Test("discarded changes leave the state unchanged")
    func discards() throws {
        let replica = Replica(Tally())
        try replica.stage(state: Tally.State().wireBytes().span)
        replica.commit()
        try replica.stage(delta: delta([.added(2)]).span, from: 0)
        replica.discard()
        replica.commit()
        #expect(replica.state.sum == 0)
    }

    @Test("a state discarded before its commit never takes effect")
    func discardsState() throws {
        let replica = Replica(Tally())
        try replica.stage(state: Tally.State().wireBytes().span)
        replica.discard()
        #expect(!replica.hasState)
        try replica.stage(delta: delta([.added(2)]).span, from: 0)
        replica.commit()
        #expect(replica.state.sum == 0 && !replica.hasState)
    }

    @Test("an undecodable delta is an error, and leaves the shown state unchanged")
    func refuses() throws {
        let replica = Replica(Tally())
        try replica.stage(state: Tally.State().wireBytes().span)
        replica.commit()
        let bytes = delta([.added(2)]) + [0xff]
        #expect(throws: WireError.self) { try replica.stage(delta: bytes.span, from: 0) }
        #expect(replica.state.sum == 0)
    }
}
