import ReactorCore
import Testing

/// Holds others of its kind, as deep as may be.
struct Nest: Reactor {
    let inner: Children<Nest>

    init() { inner = Children(wrappedValue: { _ in Nest() }) }

    @WireCodable
    enum Action: Equatable, Sendable { case deepen }

    @WireCodable
    struct State: Equatable, Sendable { var count = 0 }

    var initialState: State { State() }

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
        Mutations(action).creating(inner.projectedValue, "n")
    }

    func reduce(state: inout State, mutation: Action) { state.count += 1 }

    func children(_ visitor: inout ChildVisitor) { visitor.children("inner", inner) }
}

// because work in proportion to the tree, at every action, would take hours here and not seconds
@Suite("A large tree", .timeLimit(.minutes(5)))
struct LargeTreeTests {
    private static let count = 100_000

    @Test("R106: among a hundred thousand children an action costs what it costs among ten")
    func children() throws {
        let tree = Tree(Shop(), epoch: 1)
        let atStart = tree.mountedCount
        for number in 0..<Self.count {
            try tree.send(Shop.Action.open("room\(number)"))
            if number % 1_000 == 999 { tree.turn.begin() }
        }
        #expect(tree.mountedCount == atStart + 2 * Self.count)
        for number in 0..<Self.count {
            let path = "/rooms/room\(number &* 7_919 % Self.count)"
            let result = try tree.send(Room.Action.place(1), to: path)
            if result.hasPrefix("applied") { continue }
            Issue.record("\(path): \(result)")
            break
        }
        #expect(try tree.state(of: Room.self, "/rooms/room99999").chairs == 1)
        for number in 0..<Self.count {
            try tree.send(Shop.Action.close("room\(number)"))
            if number % 1_000 == 999 { tree.turn.begin() }
        }
        #expect(tree.mountedCount == atStart)
        #expect(tree.turn.complaints.isEmpty)
    }

    @Test("R106: a tree is as deep as may be, and no deeper; what is refused leaves nothing")
    func depth() throws {
        let tree = Tree(Nest(), epoch: 1)
        var path = "/"
        var levels = 0
        while try tree.send(Nest.Action.deepen, to: path).hasPrefix("applied") {
            path += path == "/" ? "inner/n" : "/inner/n"
            levels += 1
            guard levels <= CoreLimits.nodeDepthMax else { break }
        }
        #expect(levels == CoreLimits.nodeDepthMax / 2)
        #expect(try tree.send(Nest.Action.deepen, to: path) == "rejected TOO_LARGE")
        #expect(try tree.state(of: Nest.self, path) == Nest.State())
        #expect(tree.mountedCount == 2 * levels + 2)
    }

    @Test("R106: a number is never given to another child, though its key is")
    func numbers() throws {
        let tree = Tree(Shop(), epoch: 1)
        var numbers: Set<UInt32> = []
        for _ in 0..<1_000 {
            try tree.send(Shop.Action.open("a"))
            let room = try #require(try tree.node(at: SlicePath("/rooms/a")))
            #expect(numbers.insert(room.number).inserted)
            #expect(room.birthSequence == tree.revision.sequence)
            try tree.send(Shop.Action.close("a"))
            #expect(tree.node(room.number) == nil)
            tree.turn.begin()
        }
    }
}
