import ReactorCore
import Testing

/// A form with bindable fields.
@Reactor
struct Profile {
    enum Action: BindableAction, Equatable, Sendable {
        case binding(BindingAction<State>)
        case clear
    }

    enum Mutation: Equatable, Sendable {
        case bound(BindingAction<State>)
        case cleared
    }

    struct State: BindableState, Equatable, Sendable {
        var name = ""
        var age = 0
        var secret = ""

        static let bindableFields = [bindable("name", \.name), bindable("age", \.age)]
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .binding(\.name): return [.bound(.set(\.name, state.name + "?")), .cleared]
        case .binding(let change):
            if let age = change.value(of: \.age), age < 0 {
                throw Rejection("age", "\(age) is no age")
            }
            return [.bound(change)]
        case .clear: return [.cleared]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .bound(let change): change.apply(to: &state)
        case .cleared: state.secret = "cleared"
        }
    }
}

@Suite("BindingAction")
struct BindingActionTests {
    private typealias Change = BindingAction<Profile.State>

    @Test("F69: the change of a field is encoded with its name, and decodes to the same change")
    func wire() throws {
        let change = Change.set(\.age, 42)
        let action = Profile.Action.binding(change)
        #expect(
            try WireValue(wireBytes: action.wireBytes()).json() == #"{"binding":{"age":42}}"#)
        #expect(try Profile.Action(wireBytes: action.wireBytes()) == action)
        var state = Profile.State()
        change.apply(to: &state)
        #expect(state == Profile.State(age: 42))
    }

    @Test("W10: a client's encoding of a field is not passed on unchanged")
    func deterministic() throws {
        let came =
            [0xa1, 0x67] + Array("binding".utf8) + [0xa1, 0x63] + Array("age".utf8)
        let action = try Profile.Action(wireBytes: came + [0xc1, 0x18, 0x07])
        #expect(action.wireBytes() == came + [0x07])
    }

    @Test("F69: changes differ by field, and are equal if field and value are")
    func matches() {
        let change = Change.set(\.name, "Ann")
        #expect(\Profile.State.name ~= change)
        #expect(!(\Profile.State.age ~= change))
        #expect(change.field == "name")
        #expect(change.value(of: \.name) == "Ann" && change.value(of: \.age) == nil)
        #expect(change == .set(\.name, "Ann"))
        #expect(change != .set(\.name, "Bob") && change != .set(\.age, 1))
    }

    @Test("F69: mutate matches a change by its field, and reduce applies it")
    func reactor() throws {
        let tree = Tree(Profile(), epoch: 1)
        #expect(try tree.send(Profile.Action.binding(.set(\.age, 7))) == "applied 1")
        #expect(try tree.send(Profile.Action.binding(.set(\.age, -7))) == "rejected age")
        #expect(try tree.send(Profile.Action.binding(.set(\.name, "x"))) == "applied 2")
        #expect(
            try tree.state(of: Profile.self) == Profile.State(name: "?", age: 7, secret: "cleared"))
    }

    @Test(
        "F69: an unknown field, a wrong value and an unbindable field are refused",
        arguments: [
            #"{"binding":{"nam":"x"}}"#, #"{"binding":{"age":"x"}}"#,
            #"{"binding":{"secret":"x"}}"#, #"{"binding":{"age":1,"name":"x"}}"#,
            #"{"binding":"age"}"#, #"{"binding":{}}"#,
        ])
    func refused(_ json: String) throws {
        let tree = Tree(Profile(), epoch: 1)
        #expect(try tree.send(WireValue(json: json)) == "not an action")
        #expect(try tree.state(of: Profile.self) == Profile.State())
    }

    @Test("F69: the error of a wrong value names the field, and the schema lists the fields")
    func described() throws {
        let bytes = try WireValue(json: #"{"age":"x"}"#).wireBytes()
        let error = #expect(throws: WireError.self) { try Change(wireBytes: bytes) }
        #expect(error?.path == ["age"] && error?.offset == 5)
        guard case .choice(let choice) = Change.wireSchema else {
            Issue.record("a change is a choice of fields")
            return
        }
        #expect(choice.cases.map(\.name) == ["name", "age"])
        #expect(choice.cases[1].payload == .single(Int.wireSchema))
    }
}
