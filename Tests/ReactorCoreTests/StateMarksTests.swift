import ReactorCore
import Testing

@Suite("StateMarks")
struct StateMarksTests {
    @Test("marks that were never drained report all fields; after that each bit is a field")
    func bits() {
        var marks = StateMarks()
        var fields = [0, 0, 0]
        func drain() -> StateChanges {
            var drain = StateDrain(&marks, as: .whole)
            for index in fields.indices {
                drain.note(index * 31, WireKey("f\(index)"), &fields[index])
            }
            return drain.changes
        }
        #expect(drain() == .all)
        marks.mark(31)
        marks.mark(62)
        marks.mark(62)
        #expect(
            drain()
                == .fields([
                    FieldChange(index: 31, name: "f1"), FieldChange(index: 62, name: "f2"),
                ]))
        #expect(drain().isEmpty)
    }

    @Test("values differ if they are not equal, or cannot be compared")
    func differ() {
        #expect(StateMarks.differ(1, 2) && !StateMarks.differ(1, 1))
        #expect(StateMarks.differ({ 1 }, { 1 }))
        let keyed: Keyed<WireKey, Int> = ["a": 1]
        #expect(StateMarks.differ(keyed, keyed))
    }
}
