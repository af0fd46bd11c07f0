import Testing

@testable import ReactorCore

extension Tree {
    /// The derived values of a project, computed from its children.
    fileprivate func expected(_ path: String) throws -> [String: String] {
        let collection = try #require(try node(at: SlicePath("\(path)/builds")))
        let builds = collection.children.values.compactMap { ($0 as? Node<Build>)?.state }
        let limit = try state(of: Project.self, path.isEmpty ? "/" : path).limit
        let running = builds.count { $0.phase == .running }
        let phases = Dictionary(grouping: builds, by: \.phase).mapValues(\.count)
        return [
            "stats": try text(
                BuildStats(running: running, failed: builds.count { $0.phase == .failed })),
            "load": try text(Load(running: running, isFull: running >= limit)),
            "phases": try text(phases), "cost": "\(builds.reduce(0) { $0 + $1.cost })",
            "count": "\(builds.count)",
        ]
    }

    private func text(_ value: some WireCodable) throws -> String {
        try WireValue(wireBytes: value.wireBytes()).json()
    }

    /// The derived values of a project, as the tree shows them.
    fileprivate func shown(_ path: String) throws -> [String: String] {
        var values: [String: String] = [:]
        for name in ["stats", "load", "phases", "cost", "count"] {
            values[name] = try json("\(path)/\(name)")
        }
        return values
    }
}

@Suite("Derived values")
struct DerivedNodeTests {
    @Test("a decision reads a derived value of a keyed child, with the transaction's changes")
    func descendants() throws {
        let tree = Tree(Portfolio(), epoch: 1)
        _ = try tree.send(Portfolio.Action.add("a"))
        _ = try tree.send(Project.Action.add(1), to: "/projects/a")
        _ = try tree.sendTogether([
            ("/projects/a", Project.Action.add(2)), ("/", Portfolio.Action.titleByCount(of: "a")),
        ])
        #expect(try tree.state(of: Portfolio.self).name == "2")
        _ = try tree.send(Portfolio.Action.titleByCount(of: "b"))
        #expect(try tree.state(of: Portfolio.self).name == "none")
    }

    @Test("a total follows each child that is created, changed and removed")
    func total() throws {
        let tree = Tree(Project(), epoch: 1)
        #expect(try tree.json("/stats") == #"{"failed":0,"running":0}"#)
        try tree.send(Project.Action.add(1))
        try tree.send(Project.Action.add(2))
        #expect(try tree.json("/count") == "2")
        try tree.send(Build.Action.enter(.running), to: "/builds/1")
        try tree.send(Build.Action.enter(.failed), to: "/builds/2")
        #expect(try tree.json("/stats") == #"{"failed":1,"running":1}"#)
        #expect(try tree.json("/phases") == #"{"failed":1,"running":1}"#)
        try tree.send(Build.Action.spend(5), to: "/builds/1")
        #expect(try tree.json("/cost") == "5")
        try tree.send(Project.Action.swap(1))
        #expect(try tree.json("/stats") == #"{"failed":2,"running":0}"#)
        try tree.send(Project.Action.drop(2))
        #expect(try tree.json("/stats") == #"{"failed":1,"running":0}"#)
        #expect(try tree.json("/cost") == "0")
        #expect(try tree.json("/stats/failed") == "1")
        #expect(
            try tree.json()
                == #"{"cost":0,"load":{"isFull":false,"running":0},"count":1,"limit":2,"#
                + #""stats":{"failed":1,"running":0},"builds":{"1":{"cost":0,"phase":"failed"}},"#
                + #""phases":{"failed":1}}"#)
    }

    @Test("a value has the sequence of the transaction that changed it; an equal one keeps its own")
    func sequences() throws {
        let tree = Tree(Project(), epoch: 1)
        let stats = try #require(try tree.node(at: SlicePath("/stats")))
        let cost = try #require(try tree.node(at: SlicePath("/cost")))
        (stats.isWatched, cost.isWatched) = (true, true)
        #expect(try tree.send(Project.Action.add(1)) == "applied 1")
        #expect(stats.sequence == 0 && cost.sequence == 0)
        #expect(try tree.send(Build.Action.enter(.running), to: "/builds/1") == "applied 2")
        #expect(stats.sequence == 2 && cost.sequence == 0)
        #expect(try tree.send(Build.Action.touch, to: "/builds/1") == "applied 3")
        #expect(stats.sequence == 2 && cost.sequence == 0)
        #expect(tree.turn.touched.map(\.path.description) == ["/stats"])
        #expect(tree.turn.complaints.isEmpty)
    }

    @Test("a value that is computed from others follows them, at any depth")
    func nested() throws {
        let tree = Tree(Portfolio(), epoch: 1)
        #expect(try tree.json("/title") == #""<>""#)
        try tree.send(Portfolio.Action.title("a"))
        #expect(try tree.json("/title") == #""<a>""#)
        for name in ["x", "y"] {
            try tree.send(Portfolio.Action.add(WireKey(name)))
            try tree.send(Project.Action.add(1), to: "/projects/\(name)")
            try tree.send(Build.Action.enter(.running), to: "/projects/\(name)/builds/1")
        }
        try tree.send(Project.Action.add(1), to: "/main")
        try tree.send(Build.Action.enter(.running), to: "/main/builds/1")
        #expect(try tree.json("/all") == #"{"failed":0,"running":2}"#)
        #expect(try tree.json("/both") == "3")
        try tree.send(Portfolio.Action.drop("x"))
        #expect(try tree.json("/all") == #"{"failed":0,"running":1}"#)
        #expect(try tree.json("/both") == "2")
        try tree.send(Portfolio.Action.add("x"))
        #expect(try tree.json("/both") == "2")
    }

    @Test("decisions read a value with the changes of the transaction so far")
    func reading() throws {
        let tree = Tree(Project(), epoch: 1)
        for id in 1...3 { try tree.send(Project.Action.add(id)) }
        let starts: [(path: String, action: any WireCodable)] =
            (1...3).map { ("/", Project.Action.start($0)) }
        #expect(try tree.sendTogether(starts) == "rejected full")
        #expect(try tree.shown("") == tree.expected(""))
        #expect(try tree.json("/stats/running") == "0")
        #expect(try tree.sendTogether(Array(starts.prefix(2))) == "applied 4")
        #expect(try tree.json("/load") == #"{"isFull":true,"running":2}"#)
        #expect(try tree.send(Project.Action.start(3)) == "rejected full")
        #expect(try tree.send(Project.Action.limit(3)) == "applied 5")
        #expect(try tree.send(Project.Action.start(3)) == "applied 6")
    }

    @Test("a reaction reads a value that includes the change that it reacts to")
    func reaction() throws {
        let tree = Tree(Gauge(), epoch: 1)
        try tree.send(Build.Action.spend(3), to: "/build")
        try tree.send(Build.Action.spend(4), to: "/build")
        #expect(try tree.state(of: Gauge.self).read == [3, 7])
    }

    @Test("a refused transaction leaves values and sequences as they were")
    func refusal() throws {
        let tree = Tree(Project(), epoch: 1)
        let load = try #require(try tree.node(at: SlicePath("/load")))
        try tree.send(Project.Action.add(1))
        try tree.send(Project.Action.start(1))
        let before = try tree.shown("")
        let sequence = load.sequence
        #expect(try tree.send(Project.Action.fail(1)) == "rejected NOT_FOUND")
        #expect(
            try tree.sendTogether([
                ("/", Project.Action.add(2)), ("/builds/1", Build.Action.enter(.waiting)),
                ("/", Project.Action.start(1)), ("/", Project.Action.add(2)),
            ]) == "rejected CONFLICT")
        #expect(try tree.shown("") == before && load.sequence == sequence)
        try tree.send(Build.Action.enter(.failed), to: "/builds/1")
        #expect(try tree.shown("") == tree.expected(""))
    }

    @Test("a value takes no actions, and says so")
    func actions() throws {
        let tree = Tree(Project(), epoch: 1)
        #expect(try tree.send(WireValue.null, to: "/stats") == "rejected NOT_FOUND")
        let stats = try #require(try tree.node(at: SlicePath("/stats")))
        #expect(stats.describedName == "derived BuildStats")
        #expect(stats.documentation == "Builds by what became of them.")
        #expect(stats.isShownByValue && stats.stateSchema == BuildStats.wireSchema)
    }

    @Test("no delta, layout or snapshot contains a value, and other nodes keep their numbers")
    func history() throws {
        let tree = Tree(Portfolio(), epoch: 1)
        tree.turn.recordFacts()
        let layout = tree.takeLayout()
        #expect(layout.map(\.path.description) == ["/", "/main", "/main/builds", "/projects"])
        #expect(layout.map(\.number) == [0, 1, 2, 3])
        try tree.send(Portfolio.Action.add("x"))
        let made = tree.turn.facts.compactMap { fact -> [String]? in
            guard case .made(let records) = fact else { return nil }
            return records.map { "\($0.number) \($0.path)" }
        }
        #expect(made == [["4 /", "5 /builds"]])
        #expect(tree.deltas == ["3@1"])
        let snapshot = tree.beginSnapshot()
        snapshot.gather(100)
        #expect(snapshot.isComplete)
        let paths = snapshot.take().map(\.head.number).sorted()
        #expect(paths == [0, 1, 2, 3, 4, 5])
        #expect(throws: ImportError.self) {
            try tree.importState(
                Load(running: 1, isFull: true).wireBytes().span, at: SlicePath(["all"]))
        }
    }

    @Test("a recovery computes the values from the states, and none of them is new to the history")
    func recovery() throws {
        let tree = Tree(Portfolio(), epoch: 1)
        let layout = tree.takeLayout()
        for name in ["x", "y"] {
            try tree.send(Portfolio.Action.add(WireKey(name)))
            for id in 1...3 { try tree.send(Project.Action.add(id), to: "/projects/\(name)") }
            try tree.send(Build.Action.enter(.running), to: "/projects/\(name)/builds/2")
        }
        try tree.send(Project.Action.drop(3), to: "/projects/y")
        let again = Tree(Portfolio(), epoch: 1)
        let recovery = TreeRecovery(of: again)
        try recovery.assign(layout)
        try recovery.replay(tree.turn.deltaBytes.span)
        try recovery.finish(epoch: 1, sequence: tree.revision.sequence)
        #expect(recovery.newcomers.isEmpty && recovery.lostPaths.isEmpty)
        #expect(try again.json() == tree.json())
        #expect(try again.json("/all") == #"{"failed":0,"running":2}"#)
        let all = try #require(try again.node(at: SlicePath("/all")))
        let before = try #require(try tree.node(at: SlicePath("/all")))
        #expect(all.sequence >= before.sequence)
        try again.send(Build.Action.enter(.running), to: "/projects/x/builds/1")
        #expect(try again.json("/both") == "3")
    }

    @Test("one changed child of ten thousand is the only one that is visited")
    func cost() throws {
        let visits = VisitCount()
        let tree = Tree(Crowd(visits: visits), epoch: 1)
        for id in 0..<10_000 {
            try tree.send(Crowd.Action.add(id))
            if id % 1_000 == 0 { tree.turn.begin() }
        }
        visits.value = 0
        try tree.send(Build.Action.spend(3), to: "/builds/77")
        #expect(visits.value == 1)
        #expect(try tree.json("/cost") == "3")
        try tree.send(Crowd.Action.drop(77))
        #expect(visits.value == 1)
        #expect(try tree.json("/cost") == "0")
    }

    @Test("after each step of random traffic the values equal those computed from nothing")
    func random() throws {
        let seed = UInt64.random(in: 0 ... .max)
        try check(seed: seed)
        for seed in 1...20 { try check(seed: UInt64(seed)) }
    }

    private func check(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let tree = Tree(Portfolio(), epoch: 1)
        let names = ["x", "y"]
        for step in 0..<150 {
            let name = names.randomElement(using: &random) ?? ""
            let place = Int.random(in: 0..<3, using: &random) == 0 ? "/main" : "/projects/\(name)"
            let count = Int.random(in: 1...4, using: &random)
            if Int.random(in: 0..<8, using: &random) == 0 {
                let isAdded = Bool.random(using: &random)
                let key = WireKey(name)
                try tree.send(isAdded ? Portfolio.Action.add(key) : .drop(key))
            } else if try tree.node(at: SlicePath(place)) != nil {
                let actions = try (0..<count).compactMap { _ in
                    try Self.action(&random, place, in: tree)
                }
                _ = try tree.sendTogether(actions)
            }
            try compare(tree, names, "seed \(seed), step \(step)")
            if step % 20 == 0 { tree.turn.begin() }
        }
    }

    private static func action(
        _ random: inout SeededGenerator, _ place: String, in tree: Tree
    ) throws -> (path: String, action: any WireCodable)? {
        let id = Int.random(in: 0..<5, using: &random)
        let build = "\(place)/builds/\(id)"
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return (place, Project.Action.add(id))
        case 1: return (place, Project.Action.drop(id))
        case 2: return (place, Project.Action.swap(id))
        case 3: return (place, Project.Action.start(id))
        case 4: return (place, Project.Action.limit(id))
        default:
            guard try tree.node(at: SlicePath(build)) != nil else { return nil }
            let phases = [Phase.waiting, .running, .failed]
            let phase = phases.randomElement(using: &random) ?? .waiting
            return (build, id == 0 ? Build.Action.spend(2) : .enter(phase))
        }
    }

    private func compare(_ tree: Tree, _ names: [String], _ place: String) throws {
        var all = AllStats()
        for name in names where try tree.node(at: SlicePath("/projects/\(name)")) != nil {
            let path = "/projects/\(name)"
            #expect(try tree.shown(path) == tree.expected(path), "\(place)")
            let stats = try #require(
                try tree.node(at: SlicePath("\(path)/stats")) as? DerivedNode<BuildStats>)
            all.add(stats.value)
        }
        #expect(try tree.shown("/main") == tree.expected("/main"), "\(place)")
        let shown = try #require(
            try tree.node(at: SlicePath("/all")) as? DerivedNode<AllStats>)
        #expect(shown.value == all, "\(place)")
        let main = try tree.json("/main/stats/running") ?? ""
        #expect(try tree.json("/both") == "\(all.running + (Int(main) ?? 0))", "\(place)")
    }
}

final class VisitCount {
    var value = 0
}

/// Many builds, with a count of the visits of a derivation.
private struct Crowd: Reactor {
    @WireCodable
    enum Action: Sendable {
        case add(Int)
        case drop(Int)
    }
    typealias State = Nothing

    var initialState: Nothing { Nothing() }
    @Children var builds = { (id: Int) in Build(id: id) }
    let cost: Derived<Int>

    init(visits: VisitCount) {
        cost = Derived(
            wrappedValue: .sum(over: \Crowd.$builds) { build in
                visits.value += 1
                return build.cost
            })
    }

    func children(_ visitor: inout ChildVisitor) {
        visitor.children("builds", _builds)
        visitor.derived("cost", cost)
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Action> {
        switch action {
        case .add(let id): Mutations.none.creating($builds, id)
        case .drop(let id): Mutations.none.removing($builds, id)
        }
    }
}

@WireCodable
private struct Nothing: Sendable {}

/// Records what it reads after each change of its child.
@Reactor
private struct Gauge {
    @Child var build = Build(id: 0)
    @Derived var cost = Derivation(of: \Gauge.$build) { (_, build) in build.cost }

    typealias Action = Int
    struct State { var read: [Int] = [] }

    @Reacts(to: \Gauge.$build)
    func changed(
        _ mutation: Build.Mutation, state: State, context: ReactorContext<Self>
    ) -> Mutations<Int> {
        [context.value(of: $cost)]
    }

    func reduce(state: inout State, mutation: Int) { state.read.append(mutation) }
}
