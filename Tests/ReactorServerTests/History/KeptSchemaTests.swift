import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

private enum First {
    @Reactor
    struct Job {
        enum Action: Sendable { case add(Int) }
        enum Mutation: Sendable { case add(Int) }
        struct State: Equatable, Sendable { var count = 0 }

        func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .add(let count): [.add(count)]
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            if case .add(let count) = mutation { state.count += count }
        }
    }
}

/// Another state.
private enum Second {
    @Reactor
    struct Job {
        enum Action: Sendable { case add(Int) }
        enum Mutation: Sendable { case add(Int) }
        struct State: Equatable, Sendable { var count = 0, title = "" }

        func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .add(let count): [.add(count)]
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            if case .add(let count) = mutation { state.count += count }
        }
    }
}

/// Creates jobs.
private struct Yard: Reactor {
    @WireCodable
    enum Action: Sendable {
        case open(String)
        case close(String)
    }

    @WireCodable
    struct State: Sendable, Equatable {}

    private let jobs = Children { (_: WireKey) in First.Job() }

    var initialState: State { State() }

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
        switch action {
        case .open(let name): Mutations.none.creating(jobs.projectedValue, WireKey(name))
        case .close(let name): Mutations.none.removing(jobs.projectedValue, WireKey(name))
        }
    }

    func reduce(state: inout State, mutation: Action) {}

    func children(_ visitor: inout ChildVisitor) { visitor.children("jobs", jobs) }
}

/// Children of another type in its place.
private enum Later {
    struct Yard: Reactor {
        typealias Action = NoReply
        typealias Mutation = NoReply

        @WireCodable
        struct State: Sendable, Equatable {}

        private let jobs = Children { (_: WireKey) in ReactorGroup([]) }

        var initialState: State { State() }

        func children(_ visitor: inout ChildVisitor) { visitor.children("jobs", jobs) }
    }
}

/// Drives ``Chronicle`` and ``Recovery``.
@Suite("Schemas that a history records")
struct KeptSchemaTests {
    /// A history: its rows, and a snapshot of its end.
    private struct Past {
        var rows: [Batch] = []
        var parts: [[UInt8]] = []

        /// The schemas that each row records.
        var recorded: [[KeptSchema]] {
            get throws {
                try rows.map { row in
                    var found: [KeptSchema] = []
                    for case .schemas(let schemas) in try TurnFact.list(row.facts.span) {
                        found += schemas
                    }
                    return found
                }
            }
        }
    }

    private func recovery(_ root: some Reactor) -> Recovery {
        Recovery(of: Tree(root, epoch: 99), limits: ServerLimits())
    }

    /// Continues `past` with a daemon of `root` that runs `act`.
    private func run(
        _ root: some Reactor, behind past: Past = Past(), fromSnapshot: Bool = false,
        _ act: (TestClient) -> Void = { _ in }
    ) throws -> Past {
        let recovery = recovery(root)
        if fromSnapshot {
            for part in past.parts { try recovery.restore(part) }
        } else {
            for row in past.rows { try recovery.replay(row) }
        }
        let sequence = past.rows.last?.sequence ?? 0
        let harness = ServerHarness(try recovery.finish(epoch: 7, sequence: sequence))
        harness.turn()
        act(harness.client())
        harness.turn()
        let parts = harness.parts(of: try harness.beginSnapshot())
        return Past(rows: past.rows + harness.rows, parts: parts)
    }

    private func group(_ job: some Reactor) -> ReactorGroup { ReactorGroup([("job", job)]) }

    private func jobs(_ schemas: [KeptSchema]) -> [KeptSchema] {
        schemas.filter { $0.reactor == "Job" }
    }

    @Test("the first row of a history has the schemas of every type, and later starts add none")
    func once() throws {
        let past = try run(group(First.Job()))
        let first = try #require(try past.recorded.first)
        #expect(first.map(\.reactor).sorted() == ["Group", "Job"])
        let job = try #require(jobs(first).first)
        #expect(job.version == 1 && job.fingerprint == First.Job.fingerprint)
        #expect(job.schema(of: .state) == First.Job.State.wireSchema.canonical)
        #expect(job.schema(of: .mutation) == First.Job.Mutation.wireSchema.canonical)
        #expect(job.schema(of: .action) == First.Job.Action.wireSchema.canonical)
        let again = try run(group(First.Job()), behind: past)
        #expect(try again.recorded.joined().count == 2)
        let third = try run(group(First.Job()), behind: again, fromSnapshot: true)
        #expect(try third.recorded.joined().count == 2)
    }

    @Test("changed types are recorded once, also if they change back", arguments: [false, true])
    func changed(fromSnapshot: Bool) throws {
        let first = try run(group(First.Job()))
        let second = try run(group(Second.Job()), behind: first, fromSnapshot: fromSnapshot)
        #expect(jobs(Array(try second.recorded.joined())).count == 2)
        let recovery = recovery(group(Second.Job()))
        for part in second.parts { try recovery.restore(part) }
        let known = recovery.tree.schemas
        let prints = [First.Job.fingerprint, Second.Job.fingerprint]
        #expect(jobs(known.all).map(\.fingerprint) == prints)
        // The history knows the first schemas, so a return to them adds nothing.
        let third = try run(group(First.Job()), behind: first, fromSnapshot: fromSnapshot)
        #expect(jobs(Array(try third.recorded.joined())).count == 1)
    }

    @Test("a type that a collection creates at run time is recorded in the row that creates it")
    func created() throws {
        let past = try run(Yard()) { client in
            client.open("/")
            client.dispatch(Yard.Action.open("a"))
            client.dispatch(Yard.Action.open("b"))
        }
        let recorded = try past.recorded.filter { !$0.isEmpty }
        #expect(recorded.map { $0.map(\.reactor) } == [["Yard"], ["Job"]])
        let again = try run(Yard(), behind: past, fromSnapshot: true) { client in
            client.open("/")
            client.dispatch(Yard.Action.open("c"))
        }
        #expect(try again.recorded.joined().count == 2)
    }

    @Test("a replay knows at each point in which form a node's values are")
    func forms() throws {
        let first = try run(group(First.Job())) { client in
            client.open("/job")
            client.dispatch(First.Job.Action.add(1))
        }
        let second = try run(group(Second.Job()), behind: first)
        let recovery = recovery(group(Second.Job()))
        let node = try #require(recovery.tree.root.children["job"])
        var prints: [UInt64?] = []
        for row in second.rows {
            try recovery.replay(row)
            prints.append(recovery.nodes.keptSchema(of: node)?.fingerprint)
        }
        #expect(prints.first == First.Job.fingerprint)
        #expect(prints.last == Second.Job.fingerprint)
        #expect(First.Job.fingerprint != Second.Job.fingerprint)
    }

    @Test("a history without schemas is read, and has them from the next start on")
    func untold() throws {
        var past = try run(group(First.Job()))
        past.rows = try past.rows.map { row in
            var bytes: [UInt8] = []
            for fact in try TurnFact.list(row.facts.span) {
                if case .schemas = fact { continue }
                bytes += fact.wireBytes()
            }
            return Batch(
                turn: row.turn, epoch: row.epoch, after: row.after, sequence: row.sequence,
                deltas: row.deltas, facts: bytes)
        }
        let recovery = recovery(group(First.Job()))
        for row in past.rows { try recovery.replay(row) }
        #expect(recovery.tree.schemas.isEmpty)
        let next = try run(group(First.Job()), behind: past)
        #expect(try next.recorded.joined().count == 2)
    }

    @Test(
        "a survey names every difference and every missing reactor at once",
        arguments: [false, true])
    func survey(fromSnapshot: Bool) throws {
        let past = try run(ReactorGroup([("a", Yard()), ("job", Second.Job())])) { client in
            client.open("/a")
            client.open("/job", as: 2)
            client.dispatch(Yard.Action.open("x"))
            client.dispatch(Second.Job.Action.add(3), to: 2)
        }
        let recovery = recovery(group(First.Job()))
        let survey = recovery.beginSurvey()
        if fromSnapshot {
            for part in past.parts { try recovery.restore(part) }
        } else {
            for row in past.rows { try recovery.replay(row) }
        }
        _ = try recovery.finish(epoch: 7, sequence: past.rows.last?.sequence ?? 0)
        let lines = survey.differences.map(\.description)
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasPrefix(
                "/job: Job state: needs a decision: title is not in the program: write @WireAlias")
                ?? false, "\(lines)")
        #expect(survey.refusals.contains(.missing(path: "/a")), "\(survey.refusals)")
        #expect(
            survey.refusals.contains { refusal in
                if case .unreadable("/job", _, _) = refusal { true } else { false }
            }, "\(survey.refusals)")
        #expect(survey.refusals.count == 2)
    }

    @Test("a child whose type is missing, and that the history removed later, is no damage")
    func removed() throws {
        let past = try run(Yard()) { client in
            client.open("/")
            client.dispatch(Yard.Action.open("a"))
            client.dispatch(Yard.Action.close("a"))
        }
        let dropping = Recovery(
            of: Tree(Later.Yard(), epoch: 99), limits: ServerLimits(),
            dropped: [try SlicePath("/jobs")])
        let surveyed = recovery(Later.Yard())
        let survey = surveyed.beginSurvey()
        for recovery in [dropping, surveyed] {
            for row in past.rows { try recovery.replay(row) }
            _ = try recovery.finish(epoch: 7, sequence: past.rows.last?.sequence ?? 0)
            #expect(recovery.tree.root.children["jobs"]?.children.isEmpty ?? false)
        }
        #expect(survey.refusals == [.another(path: "/jobs/a", kept: "Job", now: "Group")])
    }
}
