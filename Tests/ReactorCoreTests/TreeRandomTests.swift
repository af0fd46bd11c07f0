import ReactorCore
import Testing

/// Rolls a die.
@Reactor
private struct Die {
    enum Action: Equatable, Sendable { case roll }
    enum Mutation: Equatable, Sendable { case rolled(Int) }
    struct State: Equatable, Sendable { var rolls: [Int] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        var random = context.random
        return [.rolled(Int.random(in: 1...6, using: &random))]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .rolled(let number): state.rolls.append(number)
        }
    }
}

@Suite("TreeRandom")
struct TreeRandomTests {
    private func rolls(_ random: TreeRandom) throws -> [Int] {
        let tree = Tree(
            Die(), epoch: 1, environment: TreeEnvironment(post: { _ in }, random: random))
        for _ in 0..<20 { try tree.send(Die.Action.roll) }
        return try tree.state(of: Die.self).rolls
    }

    @Test("equal seeds give equal decisions, and all decisions draw from one sequence")
    func seeds() throws {
        let first = try rolls(TreeRandom(SeededGenerator(seed: 7)))
        #expect(try rolls(TreeRandom(SeededGenerator(seed: 7))) == first)
        #expect(try rolls(TreeRandom(SeededGenerator(seed: 8))) != first)
        var generator = SeededGenerator(seed: 7)
        #expect(first == (0..<20).map { _ in Int.random(in: 1...6, using: &generator) })
    }

    @Test("the system's numbers differ from one another")
    func system() {
        var random = TreeRandom.system
        #expect(Set((0..<8).map { _ in random.next() }).count == 8)
    }

    @Test("a mirror does not preview a decision that reads a random number")
    func preview() throws {
        let preview = Preview(Die())
        let error = #expect(throws: Rejection.self) { try preview.apply(.roll) }
        #expect(error?.code == Rejection.previewCode && preview.state.rolls == [])
    }

    @Test("a store draws from the generator that it is given")
    func store() throws {
        let store = Store(Die(), random: TreeRandom(SeededGenerator(seed: 7)))
        for _ in 0..<20 { try store.dispatch(.roll) }
        #expect(try store.state.rolls == rolls(TreeRandom(SeededGenerator(seed: 7))))
    }
}
