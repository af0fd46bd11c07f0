import ReactorCore
import Testing

@WireCodable
struct AddItem: Equatable, Sendable { var name: String }

@WireCodable
struct LogIn: Equatable, Sendable { var user: String }

@WireCodable
struct ShopState: Equatable, Sendable {
    var user = ""
    var items: [String] = []
    var total = 0
}

private let shopReducer: Reducer<ShopState> = Reducers.combine(
    (\.user, Reducers.on(LogIn.self) { user, action in user = action.user }),
    (\.items, Reducers.on(AddItem.self) { items, action in items.append(action.name) }),
    (\.total, Reducers.pure { total, action in action.as(AddItem.self) == nil ? total : total + 1 })
)

@Suite("RootReactor")
struct RootReactorTests {
    @Test("F20: a root store takes actions of any type")
    func erased() throws {
        let store = Store(RootReactor(ShopState(), reducer: shopReducer))
        try store.dispatch(LogIn(user: "ada"))
        try store.dispatch(AddItem(name: "milk"))
        #expect(store.state == ShopState(user: "ada", items: ["milk"], total: 1))
    }

    @Test("F21: combined reducers each see every action, in order, on their own part")
    func combine() throws {
        let note: @Sendable (String) -> Reducer<[String]> = { name in
            { log, action in log.append("\(name) \(action.name)") }
        }
        let reducer: Reducer<ShopState> = Reducers.combine(
            (\.user, { user, _ in user += "1" }), (\.items, note("a")), (\.items, note("b")))
        let store = Store(RootReactor(ShopState(), reducer: reducer))
        try store.dispatch(LogIn(user: "ada"))
        try store.dispatch(AddItem(name: "milk"))
        #expect(store.state.items == ["a LogIn", "b LogIn", "a AddItem", "b AddItem"])
        #expect(store.state.user == "11")
    }

    @Test("F20: an erased action crosses the wire under its name")
    func overTheWire() throws {
        let tree = Tree(RootReactor(ShopState(), reducer: shopReducer), epoch: 1)
        let action = ErasedAction(AddItem(name: "milk"))
        #expect(
            try WireValue(wireBytes: action.wireBytes()).json() == #"{"AddItem":{"name":"milk"}}"#)
        #expect(try tree.send(action) == "applied 1")
        #expect(try tree.json("/items") == #"["milk"]"#)
        let read = try ErasedAction(wireBytes: action.wireBytes())
        #expect(read.as(AddItem.self) == AddItem(name: "milk"))
        #expect(read.as(LogIn.self) == nil)
        #expect(throws: WireError.self) {
            try ErasedAction(wireBytes: WireValue(json: "{}").wireBytes())
        }
    }

    @Test("F20: a dispatch inside middleware is not overwritten by the reduce")
    func middlewareKeeps() throws {
        let more = Middleware<RootReactor<ShopState>> { _, action, dispatch in
            if action.as(LogIn.self) != nil { dispatch(ErasedAction(AddItem(name: "gift"))) }
        }
        let store = Store(RootReactor(ShopState(), middleware: [more], reducer: shopReducer))
        try store.dispatch(LogIn(user: "ada"))
        #expect(store.state.items == ["gift"])
        #expect(store.state.user == "ada")
    }
}
