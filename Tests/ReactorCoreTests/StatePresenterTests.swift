import Testing

@testable import ReactorCore

@Suite("StatePresenter")
struct StatePresenterTests {
    private func replica(
        _ states: @escaping (Transform<Adder.State>) -> Transform<Adder.State>
    ) throws -> Replica<Adder> {
        let replica = Replica(Adder(states: states))
        try replica.stage(state: Adder.State(sum: 1, seen: [1]).wireBytes().span)
        replica.commit()
        return replica
    }

    private func add(_ number: Int, to replica: Replica<Adder>) throws {
        try replica.stage(delta: Adder.Mutation.added(number).wireBytes().span, from: 0)
        replica.commit()
    }

    @Test("F24: a replica shows what the transform makes of the state, and reduces the state")
    func transformed() throws {
        let replica = try replica { $0.map { Adder.State(sum: $0.sum * 100, seen: $0.seen) } }
        #expect(replica.shown.sum == 100)
        try add(2, to: replica)
        #expect(replica.shown.sum == 300)
        #expect(replica.state.sum == 3)
        _ = replica.preview(.add(4))
        #expect(replica.shown.sum == 700)
    }

    @Test("F24: a state that the transform drops leaves the one before it on show")
    func dropped() throws {
        let replica = try replica { $0.filter { $0.sum % 2 == 1 } }
        try add(1, to: replica)
        #expect(replica.shown.sum == 1)
        try add(1, to: replica)
        #expect(replica.shown.sum == 3)
    }

    @Test("F24: a state that the daemon has transformed is shown as it is")
    func transformedThere() throws {
        let replica = try replica { $0.map { Adder.State(sum: $0.sum * 100, seen: $0.seen) } }
        replica.setPreviewable(false)
        #expect(replica.shown.sum == 1 && !replica.isOverlaid)
        try replica.stage(state: Adder.State(sum: 7, seen: []).wireBytes().span)
        replica.commit()
        #expect(replica.shown.sum == 7)
        replica.setPreviewable(true)
        #expect(replica.shown.sum == 700)
    }
}
