import ReactorCore
import Testing

// The code of the guide on schema evolution, line for line.

@Reactor
struct Thermostat {
    static var formerNames: [String] { ["Heater"] }

    enum Action: Equatable {
        @WireAlias("warm") case heat(to: Int)
    }

    @WireRemoved("colour")
    struct State: Equatable {
        @WireAlias("temperature") var celsius: Int = 20
        var note: String?
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .heat(let degrees): state.celsius = degrees
        }
    }
}

@WireCodable
struct Address: Equatable, Sendable {
    static var wireVersion: Int { 3 }

    static var wireMigrations: WireMigrations {
        .from(1) { try $0.rename("street", to: "road") }
            .from(2) { address in
                try address.convert("distance") { (km: Int) in km * 1_000 }
                try address.set("country", to: "CH")
            }
    }

    var road: String
    /// In metres; version 2 had kilometres.
    var distance: Int
    var country: String
}

@Reactor
struct Courier {
    enum Action: Equatable {
        static var wireVersion: Int { 2 }

        static var wireMigrations: WireMigrations {
            .from(1) { action in
                action.renameCase("go", to: "visit")
                try action.inCase("visit") { try $0.rename("place", to: "address") }
            }
        }

        case visit(address: Address, at: Int)
    }

    struct State: Equatable { var visited: [Address] = [] }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .visit(let address, _): state.visited.append(address)
        }
    }
}

extension Courier {
    static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue? {
        guard kind == .state, let places = old["places"] else { return nil }
        return ["visited": places]
    }
}

@Suite("guide: schema evolution")
struct SchemaEvolutionGuideTests {
    private func kept(_ json: String) throws -> Thermostat.State {
        try Thermostat.State(keptBytes: WireValue(json: json).wireBytes().span)
    }

    @Test("a value kept under a former name is read, and a removed field is dropped")
    func names() throws {
        let read = try kept(#"{"temperature":7,"colour":"red"}"#)
        #expect(read == Thermostat.State(celsius: 7))
        let action = try Thermostat.Action(
            wireBytes: WireValue(json: #"{"warm":{"to":9}}"#).wireBytes())
        #expect(action == .heat(to: 9))
    }

    @Test("a kept field that today's type does not know is refused; a peer's is skipped")
    func strict() throws {
        #expect(throws: WireError.self) { try kept(#"{"fahrenheit":50}"#) }
        let peer = try Thermostat.State(
            wireBytes: WireValue(json: #"{"fahrenheit":50,"celsius":3}"#).wireBytes())
        #expect(peer == Thermostat.State(celsius: 3))
    }

    @Test("steps convert an inner type first, and then the type around it")
    func steps() throws {
        let address = #"{"street":"A","distance":2}"#
        let new = try Address.wireMigrations.apply(to: WireValue(json: address), from: 1)
        #expect(new == ["road": "A", "distance": 2_000, "country": "CH"])
        let action = try Courier.Action.wireMigrations.apply(
            to: ["go": ["place": new, "at": 5]], from: 1)
        let today = Address(road: "A", distance: 2_000, country: "CH")
        #expect(try action.decoded(as: Courier.Action.self) == .visit(address: today, at: 5))
    }

    @Test("migrate converts values that today's types cannot read, and nothing else")
    func migration() throws {
        #expect(Courier.migrate(["places": []], of: .state) == ["visited": []])
        #expect(Courier.migrate(["places": []], of: .mutation) == nil)
        #expect(Courier.migrate(["stops": 3], of: .state) == nil)
    }
}
