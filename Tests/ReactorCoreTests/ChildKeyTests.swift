import ReactorCore
import Testing

/// An author's id type.
struct JobID: RawRepresentable, ChildKey {
    var rawValue: UInt64
}

/// An author's enum as a key.
enum Floor: Int, ChildKey {
    case cellar = -1
    case ground
    case roof = 10
}

/// An author's type that writes its own key text, and reads more texts than it writes.
struct Letter: ChildKey, Equatable {
    var letter: String

    init?(wireKeyText text: String) { letter = text.lowercased() }

    var wireKeyText: String { letter }
    static var wireKeyKind: String { "a lower-case letter" }
}

/// A run that knows its key.
@Reactor
struct Run {
    let id: Int

    enum Action: Equatable, Sendable {
        case advance
        case fail
    }
    enum Mutation: Equatable, Sendable { case advanced }
    struct State: Equatable, Sendable { var id = 0, steps = 0 }

    init(_ id: Int) { self.id = id }

    var initialState: State { State(id: id) }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .advance: [.advanced]
        case .fail: Mutations(async: Effect { _ in throw Rejection("broken", "a run") })
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.steps += 1 }
}

/// Collections with keys of each kind.
@Reactor
struct Depot {
    @Children var runs = { (id: Int) in Run(id) }
    @Children var jobs = { (_: JobID) in Tally() }
    @Children var floors = { (_: Floor) in Tally() }
    @Children var people = { (_: String) in Tally() }
    @Children var letters = { (_: Letter) in Tally() }
    @Children var plain = { _ in Tally() }
    @Children(.leased) var desks = { (_: UInt64) in Tally() }

    enum Action: Equatable, Sendable {
        case open(Int)
        case close(Int)
        case restart(Int)
        case add(Int)
        case job(UInt64)
        case floor(Int)
        case person(String)
        case people([String])
        case rename(String, String)
        case letter(String)
        case plain(WireKey)
        case list
    }
    enum Mutation: Equatable, Sendable { case noted(String) }
    struct State: Equatable, Sendable { var notes: [String] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let id): return Mutations.none.creating($runs, id)
        case .close(let id): return Mutations.none.removing($runs, id)
        case .restart(let id): return Mutations.none.restarting($runs, id)
        case .add(let id): return Mutations.none.ensuring($runs, id).also($runs, id, .advanced)
        case .job(let id): return Mutations.none.creating($jobs, JobID(rawValue: id))
        case .floor(let number):
            guard let floor = Floor(rawValue: number) else { throw Rejection("none", "no floor") }
            return Mutations.none.creating($floors, floor)
        case .person(let name): return Mutations.none.creating($people, name)
        case .people(let names):
            return names.reduce(.none) { $0.creating($people, $1) }
        case .rename(let former, let name):
            return Mutations.none.removing($people, former).creating($people, name)
        case .letter(let text):
            guard let letter = Letter(wireKeyText: text) else { return .none }
            return Mutations.none.creating($letters, letter)
        case .plain(let key): return Mutations.none.creating($plain, key)
        case .list:
            let steps = context.keys(of: $runs).map { id in
                "\(id):\(context.state(of: $runs, id)?.steps ?? -1)"
            }
            let floors = context.keys(of: $floors).map { "\($0)" }
            #expect(context.id(of: $runs, 1_000) == nil)
            return [.noted((steps + floors).joined(separator: " "))]
        }
    }

    @Reacts(to: \Depot.$runs)
    func ran(_ mutation: Run.Mutation, key: Int) -> Mutations<Mutation> {
        [.noted("run \(key + 1) is after this")]
    }

    func childFailed(_ failure: ChildFailure, state: State) -> Mutations<Mutation> {
        failure.key(in: $runs).map { [.noted("run \($0 * 2) failed half")] } ?? .none
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let note): state.notes.append(note)
        }
    }
}

@Suite("Typed keys of children")
struct ChildKeyTests {
    private let tree = Tree(Depot(), epoch: 1)

    private func notes() throws -> [String] { try tree.state(of: Depot.self).notes }

    /// The message of a refused action.
    private func refusal(
        _ action: some WireCodable, at path: String
    ) throws -> Rejection? {
        let node = try #require(try tree.node(at: SlicePath(path)))
        let result = tree.dispatch(
            to: node, action.wireBytes().span, by: .connection(1), ordinal: 1)
        guard case .failed(.rejected(let rejection)) = result else { return nil }
        return rejection
    }

    @Test("a decision names children by keys of the author's type, listed in the type's order")
    func typed() throws {
        for id in [10, 9, -3] { try tree.send(Depot.Action.open(id)) }
        #expect(try tree.state(of: Run.self, "/runs/-3").id == -3)
        try tree.send(Depot.Action.add(9))
        try tree.send(Depot.Action.add(100))
        for floor in [10, 0, -1] { try tree.send(Depot.Action.floor(floor)) }
        try tree.send(Depot.Action.list)
        #expect(
            try notes() == [
                "run 10 is after this", "run 101 is after this",
                "-3:0 9:1 10:0 100:1 cellar ground roof",
            ])
        #expect(try tree.reach("/floors/-1") == .found)
        try tree.send(Depot.Action.close(9))
        #expect(try refusal(Depot.Action.restart(9), at: "/")?.code == FaultCode.notFound.rawValue)
        #expect(try refusal(Depot.Action.open(10), at: "/")?.code == FaultCode.conflict.rawValue)
    }

    @Test("an id with a raw value and keys without a stated type are keys of children")
    func others() throws {
        try tree.send(Depot.Action.job(.max))
        try tree.send(Depot.Action.plain("x y"))
        #expect(try tree.reach("/jobs/18446744073709551615") == .found)
        #expect(try tree.reach("/plain/x%20y") == .found)
    }

    @Test("a failed child is named by its key")
    func failure() async throws {
        let world = ManualWorld()
        let tree = Tree(Depot(), epoch: 1, environment: world.environment)
        try tree.send(Depot.Action.open(21))
        try tree.send(Run.Action.fail, to: "/runs/21")
        tree.start(tree.turn.effects)
        await world.runEffects()
        world.deliver(to: tree)
        #expect(try tree.state(of: Depot.self).notes == ["run 42 failed half"])
    }

    @Test(
        "text that is no key of the type, or a second text of a key, is refused with key and type",
        arguments: ["07", "+7", "seven", " 7", "-1", "18446744073709551616", "7\u{301}"])
    func refused(text: String) throws {
        _ = try tree.send(LeaseAction.lease(key: "7"), to: "/desks")
        let rejection = try #require(
            try refusal(LeaseAction.lease(key: WireKey(text)), at: "/desks"))
        #expect(rejection.code == FaultCode.path.rawValue)
        #expect(rejection.message.contains(text) && rejection.message.contains("UInt64"))
        let desks = try #require(try tree.node(at: SlicePath("/desks")))
        #expect(desks.children.count == 1)
        #expect(!desks.allows([WireKey(text)]) && desks.allows(["8"]))
    }

    @Test("a text that an author's type reads and does not write is no key")
    func canonical() throws {
        try tree.send(Depot.Action.letter("A"))
        let letters = try #require(try tree.node(at: SlicePath("/letters")))
        #expect(letters.children.keys.map(\.text) == ["a"])
        #expect(letters.keyProblem("A")?.contains("a lower-case letter") == true)
        #expect(letters.keyProblem("b") == nil)
    }

    @Test("two Unicode forms of one String are not two children")
    func twins() throws {
        try tree.send(Depot.Action.person("Zo\u{e9}"))
        let rejection = try refusal(Depot.Action.person("Zoe\u{301}"), at: "/")
        #expect(rejection?.code == FaultCode.path.rawValue)
        #expect(try refusal(Depot.Action.person("Zoe"), at: "/") == nil)
        #expect(try tree.node(at: SlicePath("/people"))?.children.count == 2)
    }

    @Test(
        "two Unicode forms of one String are refused within a decision, and may replace each other")
    func twinsOfADecision() throws {
        let forms = ["Zo\u{e9}", "Zoe\u{301}"]
        let rejection = try #require(try refusal(Depot.Action.people(forms), at: "/"))
        #expect(rejection.code == FaultCode.path.rawValue)
        let people = try #require(try tree.node(at: SlicePath("/people")))
        #expect(people.children.isEmpty)
        try tree.send(Depot.Action.people([forms[0], "Ann"]))
        #expect(try refusal(Depot.Action.rename(forms[0], forms[1]), at: "/") == nil)
        #expect(people.children[WireKey(forms[1])] != nil && people.children.count == 2)
    }

    @Test("paths are built from typed keys")
    func paths() throws {
        let run = ReactorPath { Depot() }.child(\.$runs, 7)
        #expect(run.path.description == "/runs/7")
        #expect(run.make().id == 7)
        #expect(#path(\Depot.$runs).appending(7).description == "/runs/7")
        #expect(#path(\Depot.$floors).appending(Floor.roof).description == "/floors/10")
        #expect(PathTable<Depot>().path(of: \Depot.$jobs)?.description == "/jobs")
    }
}
