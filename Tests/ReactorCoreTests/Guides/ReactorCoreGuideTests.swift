import ReactorCore
import Testing

// The code of the catalog's first page, line for line; another test compares the two.

@Reactor
struct Guests {
    enum Action { case enter(String) }
    enum Mutation { case entered(String) }
    struct State { var names: [String] = [] }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .enter(let name):
            if name.isEmpty { throw Rejection("no_name", "say who you are") }
            return [.entered(name)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .entered(let name): state.names.append(name)
        }
    }
}

@Suite("guide: the first page")
struct ReactorCoreGuideTests {
    @Test("an action is applied when dispatch returns; a refused one changes nothing")
    func firstPage() throws {
        let store = Store(Guests())
        try store.dispatch(.enter("Ada"))
        let names = store.state.names  // ["Ada"]: applied when dispatch returns
        #expect(names == ["Ada"])
        #expect(throws: Rejection("no_name", "say who you are")) { try store.dispatch(.enter("")) }
        #expect(store.state.names == ["Ada"])
    }
}
