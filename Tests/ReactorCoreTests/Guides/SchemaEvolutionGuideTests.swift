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

    static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue? {
        guard case .map(let map) = old, let value = map["fahrenheit"],
            case .integer(let degrees) = value, let fahrenheit = Int(exactly: degrees),
            let celsius = WireInteger(exactly: Int128((fahrenheit - 32) * 5 / 9))
        else { return nil }
        return ["celsius": .integer(celsius)]
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .heat(let degrees): state.celsius = degrees
        }
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

    @Test("migrate translates values that today's types cannot decode, and nothing else")
    func migration() throws {
        let old = try WireValue(json: #"{"fahrenheit":50}"#)
        #expect(Thermostat.migrate(old, of: .state) == ["celsius": 10])
        #expect(Thermostat.migrate(["kelvin": 3], of: .state) == nil)
    }
}
