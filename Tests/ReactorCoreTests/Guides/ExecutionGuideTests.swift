import ReactorCore
import Testing

// What the guide on execution shows, line for line.

@Suite("guide: execution")
struct ExecutionGuideTests {
    @Test("F42: what a handle sends from elsewhere is applied where the store is")
    func handle() async {
        let store = Store(Guests())
        let handle = store.handle
        await Task.detached { handle.send(.enter("Ada")) }.value
        #expect(store.state.names == [])
        store.drain()  // or, for as long as a task lives: await store.run()
        #expect(store.state.names == ["Ada"])
    }
}
