import ReactorCore
import Testing

@Suite("guide: the changes of a state")
struct StateChangesGuideTests {
    @Test("F56, F58: a state reports its changed fields and keys")
    func changes() {
        var state = Wall.State()
        _ = state.drainChanges()
        state.notes["a"] = "buy tea"
        guard case .fields(let fields) = state.changes else {
            Issue.record("\(state.changes)")
            return
        }
        #expect(fields.map(\.name) == ["notes"])
        #expect(fields.first?.parts == .keys(["a"]))
    }
}
