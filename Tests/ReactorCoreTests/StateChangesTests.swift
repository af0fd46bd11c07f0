import ReactorCore
import Testing

@Suite("StateChanges")
struct StateChangesTests {
    private let name = FieldChange(index: 0, name: "name")

    private func entries(_ keys: WireKey...) -> FieldChange {
        FieldChange(index: 1, name: "entries", parts: .keys(keys))
    }

    @Test("F58: the union of two change sets contains the fields and keys of both, each once")
    func union() {
        let first = StateChanges.fields([entries("a", "b")])
        let second = StateChanges.fields([name, entries("b", "c")])
        #expect(first.union(second) == .fields([name, entries("a", "b", "c")]))
        let whole = FieldChange(index: 1, name: "entries")
        #expect(first.union(.fields([whole])) == .fields([whole]))
        #expect(first.union(.all) == .all && StateChanges.all.union(first) == .all)
        #expect(first.union(.fields([])) == first)
        #expect(StateChanges.fields([]).isEmpty && !StateChanges.all.isEmpty)
    }
}
