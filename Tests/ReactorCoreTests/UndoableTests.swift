import Testing

@testable import ReactorCore

@Suite("Undoable")
struct UndoableTests {
    private let ann = Origin(client: 1, ordinal: 1)
    private let bob = Origin(client: 2, ordinal: 1)

    @Test("undo and redo walk through the values, with the change that made each")
    func walk() {
        var text = Undoable("")
        text.set("a", by: ann)
        text.change(by: bob) { $0 += "b" }
        #expect(text.value == "ab" && text.origin == bob)
        #expect(text.past.map(\.value) == ["", "a"] && text.past.map(\.origin) == [.daemon, ann])
        var steps = [text.undo()]
        #expect(text.value == "a" && text.origin == ann && text.canRedo)
        steps += [text.undo(), text.undo()]
        #expect(text.value == "" && text.origin == .daemon && !text.canUndo)
        steps += [text.redo(), text.redo(), text.redo()]
        #expect(text.value == "ab" && text.origin == bob)
        #expect(steps == [true, true, false, true, true, false])
    }

    @Test("a change forgets the undone values")
    func branch() {
        var text = Undoable("")
        text.set("a", by: ann)
        text.undo()
        text.set("b", by: ann)
        #expect(!text.canRedo && text.past.map(\.value) == [""])
    }

    @Test("at the limit, the oldest value is dropped")
    func limit() {
        var number = Undoable(0, limit: 3)
        for next in 1...10 { number.set(next, by: ann) }
        #expect(number.past.map(\.value) == [7, 8, 9])
        for _ in 0..<5 { number.undo() }
        #expect(number.value == 7 && number.future.map(\.value) == [10, 9, 8])
        for _ in 0..<5 { number.redo() }
        #expect(number.value == 10 && number.past.count == 3)
    }

    @Test("a client's own change is undone only while no other client has changed the value since")
    func own() {
        var text = Undoable("")
        #expect(throws: Rejection("nothing_to_undo", "no change is left to undo")) {
            try text.checkUndo()
        }
        text.set("a", by: ann)
        #expect(throws: Never.self) { try text.checkUndo(by: 1) }
        text.set("b", by: bob)
        #expect(text.canUndo(by: 2) && !text.canUndo(by: 1))
        let refused = #expect(throws: Rejection.self) { try text.checkUndo(by: 1) }
        #expect(refused?.code == "changed_since")
        #expect(throws: Never.self) { try text.checkUndo() }
        text.undo()
        #expect(text.canRedo(by: 2) && !text.canRedo(by: 1))
        #expect(throws: Never.self) { try text.checkRedo(by: 2) }
        #expect(#expect(throws: Rejection.self) { try text.checkRedo(by: 1) }?.code == "not_own")
        text.redo()
        #expect(
            #expect(throws: Rejection.self) { try text.checkRedo() }?.code == "nothing_to_redo")
    }

    @Test("coding keeps the whole history, and a limit of 0 is refused")
    func coding() throws {
        var text = Undoable("", limit: 2)
        for (value, origin) in [("a", ann), ("b", bob), ("c", ann)] { text.set(value, by: origin) }
        text.undo()
        let decoded = try Undoable<String>(wireBytes: text.wireBytes())
        #expect(decoded == text && decoded.canRedo)
        let wrong: WireValue = [
            "limit": 0, "value": "", "origin": [0, 0], "past": [], "future": [],
        ]
        #expect(throws: WireError.self) { try Undoable<String>(wireBytes: wrong.wireBytes()) }
    }
}
