import Glibc
import ReactorCore
import Testing

/// Contains nests down to the maximum depth.
struct Nest: Reactor {
    let inner: Children<WireKey, Nest>

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

/// The processor time of the calling thread.
private func processorNanoseconds() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

@Suite("A large tree")
struct LargeTreeTests {
    private static let count = 100_000
    /// Maximum ratio of an action's cost in a tree 10,000 times as large: many times the cost of
    /// cache misses, and a hundredth of work in proportion to the tree.
    private static let costMax: UInt64 = 100

    /// Creates a shop with `count` rooms.
    private func shop(_ count: Int) throws -> Tree {
        let tree = Tree(Shop(), epoch: 1)
        for number in 0..<count {
            try tree.send(Shop.Action.open("room\(number)"))
            if number % 1_000 == 999 { tree.turn.begin() }
        }
        tree.turn.begin()
        return tree
    }

    /// The minimum cost of 100 actions of a kind over several rounds, since disturbances only
    /// add.
    private func cost(_ tree: Tree, _ act: (Tree, Int) throws -> Void) rethrows -> UInt64 {
        var least = UInt64.max
        for round in 0..<10 {
            let start = processorNanoseconds()
            for number in 0..<100 { try act(tree, round * 100 + number) }
            least = min(least, processorNanoseconds() - start)
            tree.turn.begin()
        }
        return max(least, 1)
    }

    @Test("R106: an action among a hundred thousand children costs the same as among ten")
    func costs() throws {
        let (small, large) = (try shop(10), try shop(Self.count))
        let acts: [(name: String, act: (Tree, Int) throws -> Void)] = [
            ("a child's", { try $0.send(Room.Action.place(1), to: "/rooms/room\($1 % 10)") }),
            ("a sibling's", { tree, _ in try tree.send(Tally.Action.add(1), to: "/visits") }),
            (
                "coming and going",
                { tree, number in
                    try tree.send(Shop.Action.open("new\(number)"))
                    try tree.send(Shop.Action.close("new\(number)"))
                }
            ),
        ]
        for (name, act) in acts {
            let (few, many) = (try cost(small, act), try cost(large, act))
            #expect(many < few * Self.costMax, "\(name): \(many) ns among many, \(few) among few")
        }
    }

    @Test(
        "R106: a hundred thousand children are created, act and are removed without leaving a trace"
    )
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

    @Test("R106: a tree reaches the maximum depth, and not more; a refused node leaves no trace")
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

    @Test("R106: a number is never used for another child, though its key is")
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
