import ReactorCore
import Testing

extension ComingFromSwiftStateTests {
    @Test("F31, F35: a saga takes by type, waits, and puts")
    func saga() throws {
        let bench = StoreBench(RootReactor(Todos(), reducer: reducer))
        let store = bench.store
        let handle = store.runSaga { saga in
            saga.takeLatest(AddTodo.self) { saga, add in
                try await saga.sleep(for: .seconds(5))
                if add.title.isEmpty { try await saga.put(Undo()) }
            }
            _ = try await saga.take(Undo.self)
            let count = try await saga.select { $0.titles.count }
            if count == 0 { try await saga.put(AddTodo(title: "rest")) }
        }
        bench.settle()
        try store.dispatch(AddTodo(title: ""))
        bench.advance(by: .seconds(5))
        #expect(store.state.titles == ["rest"])
        handle.cancel()
        bench.settle()
        #expect(!handle.isRunning)
    }
}
