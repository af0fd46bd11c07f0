import ReactorCore
import Testing

// The code of the guide on execution, line for line.

@Suite("guide: execution")
struct ExecutionGuideTests {
    @Test("F42: actions sent through a handle are applied on the store's isolation")
    func handle() async {
        let store = Store(Guests())
        let handle = store.handle
        await Task.detached { handle.send(.enter("Ada")) }.value
        #expect(store.state.names == [])
        store.drain()  // or, for as long as a task lives: await store.run()
        #expect(store.state.names == ["Ada"])
    }
}
