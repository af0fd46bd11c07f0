import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

// One type in the versions of four builds of a program.

private enum Steps {
    static let second = WireMigrations.from(1) { try $0.rename("street", to: "road") }
    /// The same form with another meaning: metres instead of kilometres.
    static let third = second.from(2) { try $0.convert("distance") { (km: Int) in km * 1_000 } }
    static let fourth = third.from(3) { try $0.set("country", to: "CH") }
        .formerly("First.Address", "Second.Address", "Third.Address")
}

private enum First {
    @WireCodable
    struct Address: Hashable, Sendable {
        var street: String
        var distance: Int
    }
}

private enum Second {
    @WireCodable
    struct Address: Hashable, Sendable {
        static var wireVersion: Int { 2 }
        static var wireMigrations: WireMigrations { Steps.second.formerly("First.Address") }
        var road: String
        var distance: Int
    }
}

private enum Third {
    @WireCodable
    struct Address: Hashable, Sendable {
        static var wireVersion: Int { 3 }
        static var wireMigrations: WireMigrations {
            Steps.third.formerly("First.Address", "Second.Address")
        }
        var road: String
        var distance: Int
    }
}

private enum Fourth {
    @WireCodable
    struct Address: Hashable, Sendable {
        static var wireVersion: Int { 4 }
        static var wireMigrations: WireMigrations { Steps.fourth }
        var road: String
        var distance: Int
        var country: String
    }
}

/// A build with a step that refuses some values.
private enum Picky {
    @WireCodable
    struct Address: Hashable, Sendable {
        static var wireVersion: Int { 2 }
        static var wireMigrations: WireMigrations {
            WireMigrations.formerly("First.Address").from(1) { address in
                try address.rename("street", to: "road")
                let distance = try address.read("distance", as: Int.self)
                if distance > 2 { throw MigratedValue.Problem("\(distance) is too far") }
            }
        }
        var road: String
        var distance: Int
    }
}

/// A build whose chain has a gap.
private enum Gappy {
    @WireCodable
    struct Address: Hashable, Sendable {
        static var wireVersion: Int { 1 + 3 }
        static var wireMigrations: WireMigrations { .from(1) { _ in }.from(3) { _ in } }
        var road: String
    }
}

/// A reactor with addresses in its state, mutations and actions.
private struct Shop<Address: WireCodable & Hashable & Sendable>: Reactor {
    let start: Address

    @WireCodable
    enum Action: Sendable {
        case move(Address)
        /// Moves in a minute.
        case plan(Address)
    }

    @WireCodable
    enum Mutation: Sendable {
        case moved(to: Address)
        case planned
    }

    @WireCodable
    struct State: Equatable, Sendable {
        var place: Address
        var former: [Address] = []
    }

    var initialState: State { State(place: start) }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .move(let address): Mutations(.moved(to: address))
        case .plan(let address):
            Mutations(.planned).scheduling("move", after: .seconds(60), Action.move(address))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        guard case .moved(let address) = mutation else { return }
        state.former.append(state.place)
        state.place = address
    }
}

/// Another reactor with addresses.
private struct Depot<Address: WireCodable & Hashable & Sendable>: Reactor {
    @WireCodable
    enum Action: Sendable {
        case put(String, Address?)
    }

    @WireCodable
    struct State: Equatable, Sendable { var stops: [String: Address] = [:] }

    var initialState: State { State() }

    func reduce(state: inout State, mutation: Action) {
        guard case .put(let name, let address) = mutation else { return }
        state.stops[name] = address
    }
}

/// The shops of a city, which are created at run time.
private struct City<Address: WireCodable & Hashable & Sendable>: Reactor {
    @WireCodable
    enum Action: Sendable { case open(String) }

    @WireCodable
    struct State: Sendable, Equatable {}

    private let shops: Children<WireKey, Shop<Address>>

    init(_ start: Address) { shops = Children { (_: WireKey) in Shop(start: start) } }

    var initialState: State { State() }

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
        guard case .open(let name) = action else { return .none }
        return Mutations.none.creating(shops.projectedValue, WireKey(name))
    }

    func reduce(state: inout State, mutation: Action) {}

    func children(_ visitor: inout ChildVisitor) { visitor.children("shops", shops) }
}

/// Drives ``TreeRecovery`` with ``HistoryConversions``.
@Suite("Versions of types in a history")
struct HistoryConversionsTests {
    private func group<Address: WireCodable & Hashable & Sendable>(_ start: Address) -> ReactorGroup
    {
        ReactorGroup([("shop", Shop(start: start)), ("depot", Depot<Address>())])
    }

    /// Moves a shop, plans another move, and puts two stops.
    private func act<Address: WireCodable & Hashable & Sendable>(
        _ client: TestClient, _ address: Address, _ name: String
    ) {
        client.open("/shop")
        client.dispatch(Shop<Address>.Action.move(address))
        client.dispatch(Shop<Address>.Action.plan(address))
        client.open("/depot", as: 1)
        client.dispatch(Depot<Address>.Action.put(name, address), to: 1)
        client.dispatch(Depot<Address>.Action.put("none", nil), to: 1)
    }

    private func value(_ tree: Tree) throws -> WireValue {
        var writer = WireWriter()
        tree.root.encodeValue(into: &writer)
        return try WireValue(wireBytes: writer.bytes)
    }

    private let start = First.Address(street: "A", distance: 1)
    private let begin = Fourth.Address(road: "A", distance: 1_000, country: "CH")

    @Test(
        "a type in two reactors is converted over four versions, in states, mutations and plans",
        arguments: Past.Source.allCases)
    private func chain(source: Past.Source) throws {
        let past = try Past.run(group(start)) {
            act($0, First.Address(street: "B", distance: 2), "x")
        }
        let today = try Past.run(group(begin), behind: past, source)
        let second = Fourth.Address(road: "B", distance: 2_000, country: "CH")
        let expected: WireValue = [
            "shop": try WireValue(
                encoding: Shop<Fourth.Address>.State(place: second, former: [begin])),
            "depot": try WireValue(encoding: Depot<Fourth.Address>.State(stops: ["x": second])),
        ]
        #expect(try value(Past.recovery(group(begin), past, source).tree) == expected)
        #expect(try today.plans == [WireEmbedded(Shop<Fourth.Address>.Action.move(second))])
        // From then on the history has today's versions, and converts nothing twice.
        #expect(try value(Past.recovery(group(begin), today, source).tree) == expected)
    }

    @Test("rows of three versions lead to the same state as a snapshot of each point between them")
    func mixed() throws {
        let first = try Past.run(group(start)) {
            act($0, First.Address(street: "B", distance: 2), "x")
        }
        let two = group(Second.Address(road: "?", distance: 0))
        let second = try Past.run(two, behind: first) {
            act($0, Second.Address(road: "C", distance: 3), "y")
        }
        let three = group(Third.Address(road: "?", distance: 0))
        let third = try Past.run(three, behind: second) {
            act($0, Third.Address(road: "D", distance: 4_000), "z")
        }
        let four = group(Fourth.Address(road: "?", distance: 0, country: "?"))
        let fromRows = try value(Past.recovery(four, third, .rows).tree)
        let former = [("A", 1_000), ("B", 2_000), ("C", 3_000)].map {
            Fourth.Address(road: $0.0, distance: $0.1, country: "CH")
        }
        let last = Fourth.Address(road: "D", distance: 4_000, country: "CH")
        #expect(
            fromRows["shop"]
                == (try WireValue(encoding: Shop<Fourth.Address>.State(place: last, former: former)))
        )
        #expect(try value(Past.recovery(four, third, .snapshot).tree) == fromRows)
        // A snapshot in the middle, and the rows after it.
        for (earlier, root) in [(first, 0), (second, 1)] {
            let recovery = Recovery(of: Tree(four, epoch: 99), limits: ServerLimits())
            for part in earlier.parts { try recovery.restore(part) }
            for row in third.rows.dropFirst(earlier.rows.count) { try recovery.replay(row) }
            let tree = try recovery.finish(epoch: 7, sequence: third.sequence).tree
            #expect(try value(tree) == fromRows, "snapshot of build \(root)")
        }
        let plan = WireEmbedded(Shop<Fourth.Address>.Action.move(last))
        for source in Past.Source.allCases {
            #expect(try Past.run(four, behind: third, source).plans == [plan])
        }
    }

    @Test("a child that was created at run time is converted too", arguments: Past.Source.allCases)
    private func children(source: Past.Source) throws {
        let past = try Past.run(City(start)) { client in
            client.open("/")
            client.dispatch(City<First.Address>.Action.open("a"))
        }
        let moved = try Past.run(City(start), behind: past) { client in
            client.open("/shops/a")
            client.dispatch(
                Shop<First.Address>.Action.move(First.Address(street: "B", distance: 2)))
        }
        let other = Fourth.Address(road: "?", distance: 0, country: "?")
        let tree = try Past.recovery(City(other), moved, source).tree
        let second = Fourth.Address(road: "B", distance: 2_000, country: "CH")
        #expect(
            try value(tree)["shops"]?["a"]
                == WireValue(
                    encoding: Shop<Fourth.Address>.State(place: second, former: [begin])))
    }

    // MARK: Refusals

    private func text(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return "no error"
    }

    @Test("an older program refuses a history of a newer version, by path, type and versions")
    func newer() throws {
        let past = try Past.run(group(begin))
        for source in Past.Source.allCases {
            let root = group(Second.Address(road: "", distance: 0))
            let text = text { _ = try Past.recovery(root, past, source) }
            #expect(text.hasPrefix("/shop: the state of Shop<Address> in the history cannot be"))
        }
        // The name of the newer build is unknown to the older one, so the field decides.
        let mine = try Past.run(group(Newer.Address(road: "A")))
        let text = text { _ = try Past.recovery(group(Older.Address(road: "A")), mine) }
        #expect(
            text.contains("Older.Address has version 3 in the history, and version 2"), "\(text)")
    }

    @Test("a step's refusal names the sequence of the mutation, or the plan, and the step's text")
    func refused() throws {
        let past = try Past.run(group(start)) {
            act($0, First.Address(street: "B", distance: 5), "x")
        }
        let picky = group(Picky.Address(road: "", distance: 0))
        #expect(
            text { _ = try Past.recovery(picky, past, .rows) }
                == "/shop: a mutation of Shop<Address> at sequence 1 in the history cannot be "
                + "converted to today's types: moved.to: Picky.Address of version 1 is refused by "
                + "the step from version 1: 5 is too far; correct the step in `wireMigrations` or "
                + "`migrate`, which `reactord --check` tries without a change of the data")
        for source in Past.Source.allCases {
            let survey = try Past.survey(picky, past, source)
            #expect(survey.refusals.count == 3, "\(survey.refusals)")
            #expect(survey.refusals.allSatisfy { "\($0)".contains("5 is too far") })
            #expect(survey.plans.map(\.action) == ["move"])
            let lines = survey.differences.map(\.description)
            #expect(
                lines.contains(
                    "/shop: Shop<Address> state: fine: place has version 1, and is converted to "
                        + "version 2"), "\(lines)")
            #expect(lines.allSatisfy { $0.contains("is converted to version 2") }, "\(lines)")
        }
    }

    @Test("a plan that no step converts is no obstacle once it is done")
    func done() throws {
        let past = try Past.run(group(start)) {
            act($0, First.Address(street: "B", distance: 2), "x")
        }
        let replanned = try Past.run(group(start), behind: past) { client in
            client.open("/shop")
            client.dispatch(
                Shop<First.Address>.Action.plan(First.Address(street: "C", distance: 9)))
            client.dispatch(
                Shop<First.Address>.Action.plan(First.Address(street: "D", distance: 1)))
        }
        let picky = group(Picky.Address(road: "", distance: 0))
        let plans = try Past.run(picky, behind: replanned).plans
        let last = Picky.Address(road: "D", distance: 1)
        #expect(plans == [WireEmbedded(Shop<Picky.Address>.Action.move(last))])
    }

    @Test("a mistake in a chain ends the start, also where no value needs the chain")
    func mistaken() throws {
        let text = text { _ = try Past.recovery(group(Gappy.Address(road: "")), Past()) }
        #expect(
            text
                == "/shop: the types of Shop<Address>: Gappy.Address has a step from version 3, and "
                + "none from 2 before it: add `.from(2)`, or remove the steps before the gap")
    }

    @Test("values of unknown versions are refused, unless every type is of version 1")
    func untold() throws {
        let past = try Past.run(group(start)) { act($0, start, "x") }.withoutSchemas
        let text = text {
            _ = try Past.recovery(group(Second.Address(road: "", distance: 0)), past)
        }
        #expect(text.contains("the history does not say of which version"), "\(text)")
        #expect(throws: Never.self) { try Past.recovery(group(start), past) }
    }
}

private enum Older {
    @WireCodable
    struct Address: Hashable, Sendable {
        static var wireVersion: Int { 2 }
        static var wireMigrations: WireMigrations {
            .from(1) { _ in }.formerly("Newer.Address")
        }
        var road: String
    }
}

private enum Newer {
    @WireCodable
    struct Address: Hashable, Sendable {
        static var wireVersion: Int { 3 }
        static var wireMigrations: WireMigrations { .from(1) { _ in }.from(2) { _ in } }
        var road: String
    }
}
