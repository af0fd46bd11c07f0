import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

private enum Early {
    @WireCodable
    struct Address: Hashable, Sendable { var street: String, distance: Int }
}

/// The same form with another meaning: metres instead of kilometres; and a renamed field.
private enum Late {
    @WireCodable
    struct Address: Hashable, Sendable {
        static var wireVersion: Int { 2 }
        static var wireMigrations: WireMigrations {
            WireMigrations.formerly("Early.Address").from(1) { address in
                try address.rename("street", to: "road")
                try address.convert("distance") { (km: Int) in km * 1_000 }
                if try address.read("distance", as: Int.self) > 9_000 {
                    throw MigratedValue.Problem("it is too far")
                }
            }
        }
        var road: String, distance: Int
    }
}

/// Promises a visit, with the address as the payload.
private struct Courier<Address: WireCodable & Hashable & Sendable>: Reactor {
    @WireCodable
    enum Action: Sendable { case visit(Address) }

    @WireCodable
    struct State: Equatable, Sendable {}

    static var durableTasks: [DurableTaskKind] {
        [
            DurableTaskKind(startingWith: "v", Bool.self),
            DurableTaskKind(startingWith: "visit ", Address.self),
            DurableTaskKind("visit nothing", Bool.self),
        ]
    }

    var initialState: State { State() }

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
        guard case .visit(let address) = action else { return .none }
        return Mutations.none.undertaking("visit 1", address).undertaking("visit nothing")
            .undertaking("other", "text")
    }

    func reduce(state: inout State, mutation: Action) {}

    func perform(_ task: DurableTask, state: State) -> Effect<Action> {
        switch task.name {
        case "visit 1":
            (try? task.payload.decode(as: Address.self)) == nil
                ? .unperformed(task) : Effect { _ in }
        default: Effect { _ in }
        }
    }
}

/// The same reactor after its payload became a text, which `migrate` converts or does not.
private struct Texting<Kind: TextKind>: Reactor {
    @WireCodable
    enum Action: Sendable { case none }

    @WireCodable
    struct State: Equatable, Sendable {}

    static var formerNames: [String] { ["Courier<Address>"] }
    static var durableTasks: [DurableTaskKind] {
        [DurableTaskKind(startingWith: "visit ", Kind.Payload.self)]
    }

    var initialState: State { State() }

    func reduce(state: inout State, mutation: Action) {}

    func perform(_ task: DurableTask, state: State) -> Effect<Action> { Effect { _ in } }

    static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue? {
        guard kind == .task("visit "), Kind.isConverting else { return nil }
        return old["street"] ?? "nowhere"
    }
}

private protocol TextKind: SendableMetatype {
    associatedtype Payload: WireCodable & Sendable
    static var isConverting: Bool { get }
}

private enum Converted: TextKind {
    typealias Payload = String
    static let isConverting = true
}

private enum Unconverted: TextKind {
    typealias Payload = String
    static let isConverting = false
}

/// Drives ``DurableTaskKind``.
@Suite("Payloads of durable tasks in a history")
struct TaskPayloadTests {
    private func past(distance: Int) throws -> Past {
        try Past.run(Courier<Early.Address>()) { client in
            client.open("/")
            client.dispatch(
                Courier<Early.Address>.Action.visit(
                    Early.Address(street: "A", distance: distance)))
        }
    }

    @Test(
        "a payload is converted by its type's steps, once", arguments: Past.Source.allCases)
    private func converted(source: Past.Source) throws {
        let past = try past(distance: 2)
        let late = WireEmbedded(Late.Address(road: "A", distance: 2_000))
        let today = try Past.run(Courier<Late.Address>(), behind: past, source)
        #expect(Set(try today.payloads) == [late, WireEmbedded(true), WireEmbedded("text")])
        for source in Past.Source.allCases {
            let again = try Past.run(Courier<Late.Address>(), behind: today, source)
            #expect(try again.payloads.contains(late))
        }
    }

    @Test(
        "a payload that a step refuses ends the start, and --check says so",
        arguments: Past.Source.allCases)
    private func refused(source: Past.Source) throws {
        let past = try past(distance: 20)
        let expected =
            "/: the payload of the durable task \"visit 1\" of Courier<Address> in the history "
            + "cannot be converted to today's types: value: Late.Address of version 1 is refused by "
            + "the step from version 1: it is too far; correct the step in `wireMigrations` or "
            + "`migrate`, which `reactord --check` tries without a change of the data"
        do {
            _ = try Past.recovery(Courier<Late.Address>(), past, source)
            Issue.record("the start was not refused")
        } catch { #expect("\(error)" == expected) }
        let survey = try Past.survey(Courier<Late.Address>(), past, source)
        #expect(survey.refusals.map(\.description) == [expected])
        let differences = survey.differences.map(\.description)
        #expect(
            differences.contains(
                "/: Courier<Address> payload of the durable task \"visit \": fine: value has "
                    + "version 1, and is converted to version 2"), "\(differences)")
    }

    @Test("the reactor's migrate gets a payload that no step converts, with its kind")
    func migrated() throws {
        let past = try past(distance: 2)
        let today = try Past.run(Texting<Converted>(), behind: past)
        #expect(Set(try today.payloads).isSuperset(of: [WireEmbedded("A")]))
        #expect {
            try Past.recovery(Texting<Unconverted>(), past)
        } throws: { error in
            "\(error)".hasPrefix("/: the payload of the durable task \"visit ")
        }
    }

    @Test(
        "--check names a payload of no declared kind as not compared",
        arguments: Past.Source.allCases)
    private func undeclared(source: Past.Source) throws {
        let survey = try Past.survey(Courier<Early.Address>(), past(distance: 2), source)
        #expect(
            survey.uncompared.map(\.description) == [
                "/: the payload of the durable task \"other\" is not compared: declare it in "
                    + "`durableTasks` of Courier<Address>"
            ])
    }

    @Test("two kinds of one name are a mistake, which a start names")
    func twice() throws {
        #expect {
            try Past.recovery(Twice(), Past())
        } throws: { error in
            "\(error)".hasPrefix(
                "/: the types of Twice: durableTasks has two kinds for the name \"a\"")
        }
    }
}

private struct Twice: Reactor {
    @WireCodable
    enum Action: Sendable { case none }

    @WireCodable
    struct State: Equatable, Sendable {}

    static var durableTasks: [DurableTaskKind] {
        [DurableTaskKind("a", Int.self), DurableTaskKind(startingWith: "a", String.self)]
    }

    var initialState: State { State() }

    func reduce(state: inout State, mutation: Action) {}
}
