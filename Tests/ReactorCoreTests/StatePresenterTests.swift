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

    @Test("F24: a replica shows the transformed state, and reduces the original one")
    func transformed() throws {
        let replica = try replica { $0.map { Adder.State(sum: $0.sum * 100, seen: $0.seen) } }
        #expect(replica.shown.sum == 100)
        try add(2, to: replica)
        #expect(replica.shown.sum == 300)
        #expect(replica.state.sum == 3)
        _ = replica.preview(.add(4))
        #expect(replica.shown.sum == 700)
    }

    @Test("F24: a transform that is not one-to-one can be shown only by the daemon")
    func notOneForOne() throws {
        let (numbers, _) = AsyncStream.makeStream(of: Adder.State.self)
        let transforms: [((Transform<Adder.State>) -> Transform<Adder.State>, Bool)] = [
            ({ $0 }, false), ({ $0.map { $0 } }, false), ({ $0.handleEvents { _ in } }, false),
            ({ $0.filter { _ in true } }, true), ({ $0.compactMap { $0 } }, true),
            ({ $0.flatMap { [$0, $0] } }, true), ({ $0.stream { $0 } }, true),
            ({ $0.map { $0 }.merging(numbers) }, true),
        ]
        for (index, (states, isShownByValue)) in transforms.enumerated() {
            let tree = Tree(Adder(states: states), epoch: 1)
            #expect(tree.root.isShownByValue == isShownByValue, "transform \(index)")
        }
        let replica = try replica { $0.map { $0 }.filter { $0.sum % 2 == 1 } }
        try add(1, to: replica)
        #expect(replica.shown.sum == 2)
    }

    @Test("F24: a value that arrives transformed is not transformed again")
    func values() throws {
        let replica = try replica { $0.map { Adder.State(sum: $0.sum * 100, seen: $0.seen) } }
        replica.setPreviewable(false)
        try replica.stage(state: Adder.State(sum: 300, seen: []).wireBytes().span)
        replica.commit()
        #expect(replica.shown.sum == 300)
        #expect(replica.preview(.add(4)) == nil)
    }

    @Test("F24: a state transformed by the daemon is shown unchanged")
    func transformedThere() throws {
        let replica = try replica { $0.map { Adder.State(sum: $0.sum * 100, seen: $0.seen) } }
        replica.setPreviewable(false)
        #expect(replica.shown.sum == 1)
        try replica.stage(state: Adder.State(sum: 7, seen: []).wireBytes().span)
        replica.commit()
        #expect(replica.shown.sum == 7)
        replica.setPreviewable(true)
        #expect(replica.shown.sum == 700)
    }
}
