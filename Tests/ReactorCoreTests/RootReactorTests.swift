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
    @Test("F20: a root store accepts actions of any type")
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

    @Test("F20: an erased action is encoded with its name")
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

    /// Returns the items that the middleware received, and whether there were any.
    private func told(
        _ change: (Middleware<RootReactor<ShopState>>) -> Middleware<RootReactor<ShopState>>,
        then act: (StoreBench<RootReactor<ShopState>>) throws -> Void
    ) throws -> [String] {
        var names: [String] = []
        let middleware = Middleware<RootReactor<ShopState>> { getState, action, _ in
            names.append("\(action.name) of \(getState().total)")
        }
        let bench = StoreBench(
            RootReactor(ShopState(), middleware: [change(middleware)], reducer: shopReducer))
        try act(bench)
        return names
    }

    private func send(
        _ names: [String], with bench: StoreBench<RootReactor<ShopState>>
    ) throws {
        for name in names {
            if name.isEmpty {
                try bench.send(ErasedAction(LogIn(user: "ada")))
            } else {
                try bench.send(ErasedAction(AddItem(name: name)))
            }
        }
    }

    @Test("F30: middleware of one type of action receives only that type")
    func typed() throws {
        var seen: [String] = []
        let gift = Middleware<RootReactor<ShopState>>.on(LogIn.self) { getState, logIn, dispatch in
            seen.append("\(logIn.user) at \(getState().user)")
            dispatch(ErasedAction(AddItem(name: "gift for \(logIn.user)")))
        }
        let store = Store(RootReactor(ShopState(), middleware: [gift], reducer: shopReducer))
        try store.dispatch(AddItem(name: "milk"))
        try store.dispatch(LogIn(user: "ada"))
        #expect(seen == ["ada at ada"])
        #expect(store.state.items == ["milk", "gift for ada"])
    }

    @Test("F30: a filter by type passes one type, also for decoded actions")
    func filterByType() throws {
        let names = try told {
            $0.filter(AddItem.self)
        } then: {
            try send(["", "a", ""], with: $0)
        }
        #expect(names == ["AddItem of 1"])
        var seen = 0
        let middleware = Middleware<RootReactor<ShopState>> { _, _, _ in seen += 1 }
            .filter(AddItem.self)
        let tree = Tree(
            RootReactor(ShopState(), middleware: [middleware], reducer: shopReducer), epoch: 1)
        #expect(try tree.send(ErasedAction(AddItem(name: "a"))) == "applied 1")
        #expect(try tree.send(ErasedAction(LogIn(user: "a"))) == "applied 2")
        #expect(seen == 1)
    }

    @Test(
        "F29, F30: middleware of one type waits, and passes the newest, ignoring other types")
    func typedTime() throws {
        let debounced = try told {
            $0.debounce(.seconds(1)).filter(AddItem.self)
        } then: { bench in
            try send(["a", "b", ""], with: bench)
            bench.advance(by: .seconds(2))
        }
        #expect(debounced == ["AddItem of 2"])
        let throttled = try told {
            $0.throttle(.seconds(1)).filter(AddItem.self)
        } then: {
            try send(["", "a", "b"], with: $0)
        }
        #expect(throttled == ["AddItem of 1"])
        let delayed = try told {
            $0.delay(.seconds(1)).filter(AddItem.self)
        } then: { bench in
            try send(["a", "", "b"], with: bench)
            bench.advance(by: .seconds(2))
        }
        #expect(delayed == ["AddItem of 2", "AddItem of 2"])
    }

    @Test("F30: takeLatest of one type is not superseded by actions of another")
    func typedLatest() throws {
        var late: [Middleware<RootReactor<ShopState>>.Dispatch] = []
        let middleware = Middleware<RootReactor<ShopState>> { _, _, dispatch in
            late.append(dispatch)
        }.takeLatest().filter(LogIn.self)
        let bench = StoreBench(
            RootReactor(ShopState(), middleware: [middleware], reducer: shopReducer))
        try send(["", "", "milk"], with: bench)
        #expect(late.count == 2)
        late[0](ErasedAction(AddItem(name: "old")))
        late[1](ErasedAction(AddItem(name: "new")))
        bench.settle()
        #expect(bench.state.items == ["milk", "new"])
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
