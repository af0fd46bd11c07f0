import Testing

@testable import ReactorCore

/// The parts of a tree that must be equal after a recovery.
private func picture(_ tree: Tree) throws -> [String] {
    var lines: [String] = []
    tree.forEachNode { node in
        var writer = WireWriter()
        node.encodeState(into: &writer)
        lines.append(
            "\(node.path) \(node.number) \(node.sequence) \(node.birthSequence) "
                + "\(writer.bytes.map { String($0, radix: 16) }.joined())")
    }
    return lines + ["\(tree.revision)", "\(tree.mountedCount)"]
}

extension Tree {
    fileprivate func recovery(_ places: [NodeRecord], deltas: [UInt8]) throws -> TreeRecovery {
        let recovery = TreeRecovery(of: self)
        try recovery.assign(places)
        try recovery.replay(deltas.span)
        return recovery
    }
}

/// Shows ten times its count.
private struct Tenfold: Reactor {
    @WireCodable
    enum Action: Sendable { case add(Int) }

    @WireCodable
    enum Mutation: Sendable { case added(Int) }

    @WireCodable
    struct State: Sendable, Equatable { var count = 0 }

    var initialState: State { State() }

    func mutate(
        action: Action, state: State, context: ReactorContext<Tenfold>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let count): [.added(count)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let count): state.count += count
        }
    }

    func transform(state: Transform<State>) -> Transform<State> {
        state.map { State(count: $0.count * 10) }
    }
}

@Suite("TreeRecovery")
struct TreeRecoveryTests {
    @Test("J48: replayed deltas lead to the same states, numbers and sequences")
    func deltas() throws {
        let tree = Tree(Shop(), epoch: 7)
        let places = tree.staticRecords
        for name in ["a", "b", "c"] { try tree.send(Shop.Action.open(name)) }
        try tree.send(Shop.Action.furnish("b", 3))
        try tree.send(Shop.Action.reopen("a"))
        try tree.send(Shop.Action.visit(4))
        try tree.send(Shop.Action.close("c"))
        // A child of a refused batch has used up a number nevertheless.
        let refused = try tree.sendTogether([
            ("/", Shop.Action.open("d")), ("/", Shop.Action.refuseAfterLooking),
        ])
        #expect(refused.hasPrefix("rejected"))
        try tree.send(Shop.Action.open("e"))
        try tree.send(Shop.Action.furnish("e", 2))
        let again = Tree(Shop(), epoch: 1)
        let recovery = try again.recovery(places, deltas: tree.turn.deltaBytes)
        try recovery.finish(epoch: 7, sequence: tree.turn.sequence)
        #expect(try picture(again) == picture(tree))
        // Both continue in the same way.
        for tree in [tree, again] { try tree.send(Shop.Action.open("f")) }
        #expect(try picture(again) == picture(tree))
    }

    @Test("replayed deltas contain what sent actions decided, and not what was refused")
    func sentActions() throws {
        let tree = Tree(Works(), epoch: 7)
        let places = tree.staticRecords
        typealias Action = Works.Action
        try tree.send(Action.perform([.open("a"), .hall("a", .add("m")), .gate(.start(1))]))
        try tree.send(Hangar.Action.add("m"), to: "/yard")
        try tree.send(Action.perform([.machine("a", "m", .start(8)), .gate(.start(2))]))
        let refused = Action.perform([.open("b"), .gate(.start(3)), .machine("a", "m", .start(1))])
        #expect(try tree.send(refused) == "rejected too_low")
        for amount in [9, 4, 10] { try tree.send(Tally.Action.add(amount), to: "/source") }
        #expect(tree.turn.complaints.count == 2)
        let again = Tree(Works(), epoch: 1)
        try again.recovery(places, deltas: tree.turn.deltaBytes)
            .finish(epoch: 7, sequence: tree.turn.sequence)
        #expect(try picture(again) == picture(tree))
        #expect(again.turn.complaints.isEmpty)
    }

    @Test("a recovered state is shown through the reactor's transform, before it is served")
    func presented() throws {
        let tree = Tree(Tenfold(), epoch: 7)
        try tree.send(Tenfold.Action.add(4))
        let again = Tree(Tenfold(), epoch: 1)
        try again.recovery(tree.staticRecords, deltas: tree.turn.deltaBytes)
            .finish(epoch: 7, sequence: tree.turn.sequence)
        var writer = WireWriter()
        again.root.encodePresented(into: &writer)
        #expect(try Tenfold.State(wireBytes: writer.bytes.span).count == 40)
    }

    @Test("J48: a snapshot collected during changes is of one revision")
    func snapshot() throws {
        let tree = Tree(Shop(), epoch: 7)
        for index in 0..<40 { try tree.send(Shop.Action.open("r\(index)")) }
        let before = try picture(tree)
        let revision = tree.turn.sequence
        let snapshot = tree.beginSnapshot()
        var parts: [[UInt8]] = []
        var random = SeededGenerator(seed: 3)
        var index = 0
        while !snapshot.isComplete {
            for action in [
                Shop.Action.furnish("r\(Int.random(in: 0..<40, using: &random))", 1),
                .close("r\(Int.random(in: 0..<40, using: &random))"), .open("n\(index)"),
                .visit(1),
            ] { try tree.send(action) }
            index += 1
            snapshot.gather(3)
            for node in snapshot.take() {
                var writer = WireWriter()
                node.encode(into: &writer)
                parts.append(writer.bytes)
            }
        }
        let again = Tree(Shop(), epoch: 1)
        let recovery = TreeRecovery(of: again)
        for part in parts.shuffled(using: &random) { try recovery.restore(part.span) }
        try recovery.finish(epoch: 7, sequence: revision)
        let after = try picture(again)
        // An ancestor of a node that changed later may already have the later sequence.
        func withoutSequences(_ lines: [String]) -> [String] {
            lines.map { line in
                var words = line.split(separator: " ")
                if words.count == 5 { words.remove(at: 2) }
                return words.joined(separator: " ")
            }
        }
        #expect(withoutSequences(after) == withoutSequences(before))
        #expect(tree.turn.snapshot == nil)
    }

    @Test("a new static node gets a number that the history does not use")
    func newcomer() throws {
        let tree = Tree(ReactorGroup([("a", Tally())]), epoch: 7)
        let places = tree.staticRecords
        try tree.send(Tally.Action.add(3), to: "/a")
        let again = Tree(ReactorGroup([("Z", Tally()), ("a", Tally())]), epoch: 1)
        let recovery = try again.recovery(places, deltas: tree.turn.deltaBytes)
        try recovery.finish(epoch: 7, sequence: 1)
        #expect(try again.json("/a/sum") == "3")
        #expect(try again.json("/Z/sum") == "0")
        #expect(try again.node(at: SlicePath("/a"))?.number == 1)
        #expect(try again.node(at: SlicePath("/Z"))?.number == 2)
        try again.send(Tally.Action.add(1), to: "/Z")
        #expect(again.deltas == ["2@2"])
    }

    @Test("a removed reactor of the history is named, and dropped only if configured")
    func missing() throws {
        let tree = Tree(ReactorGroup([("a", Tally()), ("shop", Shop())]), epoch: 7)
        let places = tree.staticRecords
        try tree.send(Shop.Action.open("x"), to: "/shop")
        try tree.send(Tally.Action.add(3), to: "/a")
        let again = Tree(ReactorGroup([("a", Tally())]), epoch: 1)
        #expect(throws: RecoveryError.missing(path: "/shop")) {
            try again.recovery(places, deltas: [])
        }
        let other = Tree(ReactorGroup([("a", Tally())]), epoch: 1)
        let recovery = TreeRecovery(of: other, dropped: [try SlicePath("/shop")])
        try recovery.assign(places)
        try recovery.replay(tree.turn.deltaBytes.span)
        try recovery.finish(epoch: 7, sequence: 2)
        #expect(try other.json("/a/sum") == "3")
        #expect(other.mountedCount == 2)
    }

    @Test("a mutation that today's types cannot decode is an error with its path and sequence")
    func unreadable() throws {
        let tree = Tree(ReactorGroup([("a", Tally())]), epoch: 7)
        // A history that does not name its reactors.
        let places = tree.staticRecords.map { NodeRecord(number: $0.number, path: $0.path) }
        try tree.send(Tally.Action.add(3), to: "/a")
        let again = Tree(ReactorGroup([("a", Echo())]), epoch: 1)
        let error = #expect(throws: RecoveryError.self) {
            try again.recovery(places, deltas: tree.turn.deltaBytes)
        }
        #expect("\(error as Any)".contains("/a: a mutation of Echo at sequence 1"))
    }

    @Test(
        "an invalid history is refused",
        arguments: [
            [1, 2, 3], [UInt8](repeating: 0, count: 20), [UInt8](repeating: 255, count: 40),
        ])
    func garbage(_ bytes: [UInt8]) {
        #expect(throws: RecoveryError.self) {
            try Tree(Shop(), epoch: 1).recovery([], deltas: bytes)
        }
        #expect(throws: RecoveryError.self) {
            try TreeRecovery(of: Tree(Shop(), epoch: 1)).restore(bytes.span)
        }
    }

    @Test("a parent that mutates the child to which it reacts is replayed to the same state")
    func reactions() throws {
        let tree = Tree(Doubler(), epoch: 7)
        let places = tree.staticRecords
        try tree.send(Tally.Action.spread([1, 2, 3]), to: "/tally")
        let again = Tree(Doubler(), epoch: 1)
        let recovery = try again.recovery(places, deltas: tree.turn.deltaBytes)
        try recovery.finish(epoch: 7, sequence: tree.turn.sequence)
        #expect(try picture(again) == picture(tree))
        #expect(try again.json("/tally/history") == "[1,2,3,100,200]")
    }

    @Test("J48: ownership is recovered, even if facts are replayed twice")
    func ownership() throws {
        let facts: [OwnershipFact] = [
            .own(node: 1, key: "b", connection: 4), .own(node: 1, key: "a", connection: 4),
            .own(node: 1, key: "c", connection: 5), .disown(node: 1, key: "b", connection: 4),
            .own(node: 1, key: "d", connection: 6), .end(connection: 6),
        ]
        for repeats in 0..<facts.count {
            let tree = Tree(ReactorGroup([("a", Tally())]), epoch: 1)
            let recovery = TreeRecovery(of: tree)
            try recovery.assign([NodeRecord(number: 1, path: SlicePath("/a"))])
            for fact in facts + facts.suffix(repeats) { recovery.replay(fact) }
            try recovery.finish(epoch: 1, sequence: 0)
            let owned = tree.copyOwnership()()
            #expect(Set(owned.map { "\($0)" }).count == 2)
            #expect(owned.contains(.own(node: 1, key: "a", connection: 4)))
            #expect(owned.contains(.own(node: 1, key: "c", connection: 5)))
            tree.endFormerConnections()
            #expect(tree.copyOwnership()().isEmpty)
        }
    }
}

/// Adds a hundred times each of its child's first numbers to the child itself.
@Reactor
private struct Doubler {
    @Child var tally = Tally()

    enum Action: Sendable { case nothing }
    enum Mutation: Sendable { case nothing }
    struct State: Equatable, Sendable {}

    func reduce(state: inout State, mutation: Mutation) {}

    @Reacts(to: \Doubler.$tally)
    func echo(_ mutation: Tally.Mutation, state: State) -> Mutations<Mutation> {
        guard case .added(let amount) = mutation, amount < 3 else { return .none }
        return Mutations<Mutation>.none.also($tally, .added(amount * 100))
    }
}
