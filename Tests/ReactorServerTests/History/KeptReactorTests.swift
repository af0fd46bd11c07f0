import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// One reactor in several versions, all of which are called `Tracker`.
private enum Old {
    @Reactor
    struct Tracker {
        enum Action: Sendable {
            case add(Int)
            case remind(Int)
        }
        struct State: Equatable, Sendable { var lastID = 0 }

        func reduce(state: inout State, mutation: Action) {
            if case .add(let count) = mutation { state.lastID += count }
        }

        func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
            switch action {
            case .add: Mutations(action)
            case .remind(let count):
                Mutations(.add(0)).scheduling("later", after: .seconds(60), Action.add(count))
            }
        }
    }
}

private enum Renamed {
    @Reactor
    struct Tracker {
        enum Action: Sendable { case add(Int) }
        struct State: Equatable, Sendable { var lastNumber = 0 }

        func reduce(state: inout State, mutation: Action) {
            if case .add(let count) = mutation { state.lastNumber += count }
        }
    }
}

private enum Aliased {
    @Reactor
    struct Tracker {
        enum Action: Sendable { case add(Int) }
        struct State: Equatable, Sendable { @WireAlias("lastID") var lastNumber = 0 }

        func reduce(state: inout State, mutation: Action) {
            if case .add(let count) = mutation { state.lastNumber += count }
        }
    }
}

private enum Removed {
    @Reactor
    struct Tracker {
        enum Action: Sendable { case add(Int) }
        @WireRemoved("lastID") struct State: Equatable, Sendable { var lastNumber = 0 }

        func reduce(state: inout State, mutation: Action) {}
    }
}

private enum Migrated {
    @Reactor
    struct Tracker {
        enum Action: Sendable { case add(Int) }
        struct State: Equatable, Sendable { var lastNumber = 0 }

        func reduce(state: inout State, mutation: Action) {
            if case .add(let count) = mutation { state.lastNumber += count }
        }

        static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue? {
            guard case .map(let map) = old, let number = map["lastID"] else { return nil }
            return ["lastNumber": number]
        }
    }
}

private enum Grown {
    @Reactor
    struct Tracker {
        enum Action: Sendable {
            case add(Int)
            case remind(Int)
        }
        struct State: Equatable, Sendable { var lastID = 0, title = "", note: String? }

        func reduce(state: inout State, mutation: Action) {
            if case .add(let count) = mutation { state.lastID += count }
        }
    }
}

private enum Needy {
    @Reactor
    struct Tracker {
        enum Action: Sendable {
            case add(Int)
            case remind(Int)
        }
        struct State: Equatable, Sendable { var lastID: Int, size: Int }

        var initialState: State { State(lastID: 0, size: 0) }

        func reduce(state: inout State, mutation: Action) {}
    }
}

/// A version whose planned action has another name.
private enum Recased {
    @Reactor
    struct Tracker {
        enum Action: Sendable { case increase(Int) }
        enum Mutation: Sendable {
            case add(Int)
            case remind(Int)
        }
        struct State: Equatable, Sendable { var lastID = 0 }

        func reduce(state: inout State, mutation: Mutation) {
            if case .add(let count) = mutation { state.lastID += count }
        }
    }
}

/// The same version, with a migration of the action.
private enum Remembering {
    @Reactor
    struct Tracker {
        enum Action: Sendable { case increase(Int) }
        enum Mutation: Sendable {
            case add(Int)
            case remind(Int)
        }
        struct State: Equatable, Sendable { var lastID = 0 }

        func reduce(state: inout State, mutation: Mutation) {
            if case .add(let count) = mutation { state.lastID += count }
        }

        static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue? {
            guard kind == .action, case .map(let map) = old, let count = map["add"] else {
                return nil
            }
            return ["increase": count]
        }
    }
}

/// The same reactor under another name, with its former name declared.
@Reactor
private struct Journey {
    static var formerNames: [String] { ["Tracker"] }

    enum Action: Sendable {
        case add(Int)
        case remind(Int)
    }
    struct State: Equatable, Sendable { var lastID = 0 }

    func reduce(state: inout State, mutation: Action) {
        if case .add(let count) = mutation { state.lastID += count }
    }
}

/// Reads the bytes that a tracker writes, and has another name.
@Reactor
private struct Impostor {
    enum Action: Sendable {
        case add(Int)
        case remind(Int)
    }
    struct State: Equatable, Sendable { var lastID = 0 }

    func reduce(state: inout State, mutation: Action) {
        if case .add(let count) = mutation { state.lastID += count }
    }
}

/// Starts with a state that the test chooses.
@Reactor
private struct Offset {
    let start: Int

    enum Action: Sendable { case add(Int) }
    struct State: Equatable, Sendable { var count = 0 }

    var initialState: State { State(count: start) }

    func reduce(state: inout State, mutation: Action) {
        if case .add(let count) = mutation { state.count += count }
    }
}

/// Promises a task that it can perform, or cannot.
@Reactor
private struct Debtor {
    var knows = true

    enum Action: Sendable { case promise }
    struct State: Equatable, Sendable { var count = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
        Mutations(action).undertaking("mail")
    }

    func reduce(state: inout State, mutation: Action) {}

    func perform(_ task: DurableTask, state: State) -> Effect<Action> {
        task.name == "mail" && knows ? Effect { _ in } : .unperformed(task)
    }
}

/// Creates children; its name does not include their type.
private struct Hostel: Reactor {
    @WireCodable
    enum Action: Sendable { case open(String) }

    @WireCodable
    struct State: Sendable, Equatable {}

    private let mount: (inout ChildVisitor) -> Void
    private let open: (WireKey) -> Mutations<Action>

    init<Room: Reactor>(_ room: @escaping (WireKey) -> Room) {
        let rooms = Children(wrappedValue: room)
        mount = { $0.children("rooms", rooms) }
        open = { Mutations.none.creating(rooms.projectedValue, $0) }
    }

    var initialState: State { State() }

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
        switch action {
        case .open(let name): open(WireKey(name))
        }
    }

    func reduce(state: inout State, mutation: Action) {}

    func children(_ visitor: inout ChildVisitor) { mount(&visitor) }
}

@Suite("States of changed reactors")
struct KeptReactorTests {
    /// Runs a daemon that continues `past`, read from `source`, and runs `act`.
    private func run(
        _ root: some Reactor, behind past: Past? = nil, _ source: Past.Source = .rows,
        dropped: [String] = [], _ act: (TestClient) -> Void = { _ in }
    ) throws -> (past: Past, tree: Tree) {
        let limits = ServerLimits()
        let recovery = Recovery(
            of: Tree(root, epoch: 99), limits: limits,
            dropped: try dropped.map { try SlicePath($0) })
        if let past {
            switch source {
            case .rows: for row in past.rows { try recovery.replay(row) }
            case .snapshot: for part in past.parts { try recovery.restore(part) }
            }
        }
        let harness = ServerHarness(try recovery.finish(epoch: 7, sequence: past?.sequence ?? 0))
        harness.turn()
        act(harness.client())
        harness.turn()
        let parts = harness.parts(of: try harness.beginSnapshot())
        return (
            Past(rows: (past?.rows ?? []) + harness.rows, parts: parts), harness.server.tree
        )
    }

    private func value(_ tree: Tree, _ path: String) throws -> String {
        var writer = WireWriter()
        let node = try #require(try tree.node(at: SlicePath(path)))
        node.encodeState(into: &writer)
        return try WireValue(wireBytes: writer.bytes).json()
    }

    private func tracked() throws -> Past {
        try run(ReactorGroup([("t", Old.Tracker())])) { client in
            client.open("/t")
            for _ in 0..<4 { client.dispatch(Old.Tracker.Action.add(1)) }
        }.past
    }

    @Test(
        "a renamed field is not lost: the start is refused with path, type and field",
        arguments: Past.Source.allCases)
    private func renamed(source: Past.Source) throws {
        let past = try tracked()
        let error = #expect(throws: RecoveryError.self) {
            try run(ReactorGroup([("t", Renamed.Tracker())]), behind: past, source)
        }
        let text = "\(error as Any)"
        #expect(text.contains("/t: the state of Tracker") && text.contains("lastID"), "\(text)")
    }

    @Test(
        "an alias, a declared removal and a migration define a field's fate, in every form",
        arguments: Past.Source.allCases)
    private func declared(source: Past.Source) throws {
        let past = try tracked()
        let aliased = try run(ReactorGroup([("t", Aliased.Tracker())]), behind: past, source).tree
        #expect(try value(aliased, "/t") == #"{"lastNumber":4}"#)
        let migrated = try run(ReactorGroup([("t", Migrated.Tracker())]), behind: past, source).tree
        #expect(try value(migrated, "/t") == #"{"lastNumber":4}"#)
        let removed = try run(ReactorGroup([("t", Removed.Tracker())]), behind: past, source).tree
        #expect(try value(removed, "/t") == #"{"lastNumber":0}"#)
    }

    @Test(
        "new fields with a default start; an older program that would drop them does not",
        arguments: Past.Source.allCases)
    private func rollback(source: Past.Source) throws {
        let grown = try run(ReactorGroup([("t", Grown.Tracker())]), behind: try tracked(), source)
        #expect(try value(grown.tree, "/t") == #"{"note":null,"title":"","lastID":4}"#)
        let error = #expect(throws: RecoveryError.self) {
            try run(ReactorGroup([("t", Old.Tracker())]), behind: grown.past, source)
        }
        #expect("\(error as Any)".contains("title") || "\(error as Any)".contains("note"))
        // The program that wrote the history continues too.
        let again = try run(ReactorGroup([("t", Grown.Tracker())]), behind: grown.past, source)
        #expect(try value(again.tree, "/t") == #"{"note":null,"title":"","lastID":4}"#)
    }

    @Test("a new field without a default is refused by name", arguments: Past.Source.allCases)
    private func needy(source: Past.Source) throws {
        let past = try tracked()
        let error = #expect(throws: RecoveryError.self) {
            try run(ReactorGroup([("t", Needy.Tracker())]), behind: past, source)
        }
        #expect("\(error as Any)".contains("size"))
    }

    @Test(
        "another reactor at a path is refused by both names, even if it can read the state",
        arguments: Past.Source.allCases)
    private func another(source: Past.Source) throws {
        let past = try tracked()
        let refusal = RecoveryError.another(path: "/t", kept: "Tracker", now: "Impostor")
        #expect(throws: refusal) {
            try run(ReactorGroup([("t", Impostor())]), behind: past, source)
        }
        let renamed = try run(ReactorGroup([("t", Journey())]), behind: past, source)
        #expect(try value(renamed.tree, "/t") == #"{"lastID":4}"#)
        // From then on the history knows it by its new name.
        let later = RecoveryError.another(path: "/t", kept: "Journey", now: "Tracker")
        #expect(throws: later) {
            try run(ReactorGroup([("t", Old.Tracker())]), behind: renamed.past, .snapshot)
        }
    }

    @Test(
        "a removed state stays removed, even if its reactor comes back",
        arguments: Past.Source.allCases)
    private func dropped(source: Past.Source) throws {
        let past = try tracked()
        let between = try run(
            ReactorGroup([("t", Impostor())]), behind: past, source, dropped: ["/t"]
        ) { client in
            client.open("/t")
            client.dispatch(Impostor.Action.add(7))
        }
        #expect(try value(between.tree, "/t") == #"{"lastID":7}"#)
        let back = try run(
            ReactorGroup([("t", Old.Tracker())]), behind: between.past, source, dropped: ["/t"])
        #expect(try value(back.tree, "/t") == #"{"lastID":0}"#)
        let without = try run(ReactorGroup([]), behind: past, source, dropped: ["/t"]) { client in
            client.open("/")
        }
        let returned = try run(
            ReactorGroup([("t", Old.Tracker())]), behind: without.past, source, dropped: ["/t"])
        #expect(try value(returned.tree, "/t") == #"{"lastID":0}"#)
    }

    @Test(
        "keyed children are compared and decoded like all others", arguments: Past.Source.allCases
    )
    private func keyed(source: Past.Source) throws {
        let first = try run(Hostel { _ in Old.Tracker() }) { client in
            client.open("/")
            client.dispatch(Hostel.Action.open("a"))
        }
        let past = try run(Hostel { _ in Old.Tracker() }, behind: first.past) { client in
            client.open("/rooms/a")
            client.dispatch(Old.Tracker.Action.add(4))
        }.past
        let same = try run(Hostel { _ in Old.Tracker() }, behind: past, source)
        #expect(try value(same.tree, "/rooms/a") == #"{"lastID":4}"#)
        let refusal = RecoveryError.another(path: "/rooms/a", kept: "Tracker", now: "Impostor")
        #expect(throws: refusal) { try run(Hostel { _ in Impostor() }, behind: past, source) }
        let error = #expect(throws: RecoveryError.self) {
            try run(Hostel { _ in Renamed.Tracker() }, behind: past, source)
        }
        #expect("\(error as Any)".contains("/rooms/a: the state of Tracker"))
        let aliased = try run(Hostel { _ in Aliased.Tracker() }, behind: past, source)
        #expect(try value(aliased.tree, "/rooms/a") == #"{"lastNumber":4}"#)
        // An older program does not start from it, with or without a snapshot.
        #expect(throws: RecoveryError.self) {
            try run(Hostel { _ in Old.Tracker() }, behind: aliased.past, source)
        }
        let looking = Recovery(
            of: Tree(Hostel { _ in Old.Tracker() }, epoch: 1), limits: ServerLimits())
        for row in past.rows { try looking.replay(row) }
        _ = try looking.finish(epoch: 7, sequence: past.sequence)
        // The children are in the history, although no snapshot contains them.
        #expect(looking.newPaths.isEmpty && looking.lostPaths.isEmpty)
        let given = try run(
            Hostel { _ in Impostor() }, behind: past, source, dropped: ["/rooms"])
        #expect(try given.tree.node(at: SlicePath("/rooms/a")) == nil)
    }

    @Test(
        "a state continues from its own initial value, not from that of today's program",
        arguments: Past.Source.allCases)
    private func initial(source: Past.Source) throws {
        let past = try run(ReactorGroup([("o", Offset(start: 10))])) { client in
            client.open("/o")
            client.dispatch(Offset.Action.add(1))
        }.past
        let tree = try run(ReactorGroup([("o", Offset(start: 20))]), behind: past, source).tree
        #expect(try value(tree, "/o") == #"{"count":11}"#)
    }

    @Test(
        "a planned action that today's types cannot decode is named before it is due",
        arguments: Past.Source.allCases)
    private func planned(source: Past.Source) throws {
        let past = try run(ReactorGroup([("t", Old.Tracker())])) { client in
            client.open("/t")
            client.dispatch(Old.Tracker.Action.remind(3))
        }.past
        let error = #expect(throws: RecoveryError.self) {
            try run(ReactorGroup([("t", Recased.Tracker())]), behind: past, source)
        }
        let text = "\(error as Any)"
        #expect(text.contains("/t: the planned action \"later\" of Tracker"), "\(text)")
        let tree = try run(ReactorGroup([("t", Remembering.Tracker())]), behind: past, source).tree
        let facts = tree.copyTasks()()
        guard case .timer(_, _, _, _, _, _, _, let action)? = facts.first else {
            Issue.record("the timer is gone: \(facts)")
            return
        }
        #expect(try action.decode(as: WireValue.self).json() == #"{"increase":3}"#)
    }

    @Test(
        "a durable task that its reactor no longer performs is named",
        arguments: Past.Source.allCases)
    private func promised(source: Past.Source) throws {
        let past = try run(ReactorGroup([("d", Debtor())])) { client in
            client.open("/d")
            client.dispatch(Debtor.Action.promise)
        }.past
        _ = try run(ReactorGroup([("d", Debtor())]), behind: past, source)
        #expect(throws: RecoveryError.unperformed(path: "/d", reactor: "Debtor", task: "mail")) {
            try run(ReactorGroup([("d", Debtor(knows: false))]), behind: past, source)
        }
    }

    @Test("a row of a program that recorded neither names nor states is read as before")
    func untold() throws {
        var past = try tracked()
        past.rows = try past.rows.map { row in
            let facts = try TurnFact.list(row.facts.span).flatMap { fact in
                guard case .layout(let places) = fact else { return fact.wireBytes() }
                return TurnFact.layout(
                    places.map { NodeRecord(number: $0.number, path: $0.path) }
                ).wireBytes()
            }
            return Batch(
                turn: row.turn, epoch: row.epoch, after: row.after, sequence: row.sequence,
                deltas: row.deltas, facts: facts)
        }
        let tree = try run(ReactorGroup([("t", Old.Tracker())]), behind: past).tree
        #expect(try value(tree, "/t") == #"{"lastID":4}"#)
    }
}
