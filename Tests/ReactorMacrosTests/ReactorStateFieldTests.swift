import Testing

@Suite("Properties that @ReactorState cannot track")
struct ReactorStateFieldTests {
    @Test("several properties in one declaration must be declared separately")
    func several() {
        expectDiagnostics(
            """
            @ReactorState
            struct State {
                var a = 0, b = 1
            }
            """,
            told(
                3, 9, "@ReactorState records each property by itself; declare one a line"))
    }

    @Test("observers conflict with the generated accessors")
    func observers() {
        expectDiagnostics(
            """
            @ReactorState
            struct State {
                var a = 0 { didSet {} }
            }
            """,
            told(
                3, 9,
                "@ReactorState replaces the accessors, which willSet and didSet are part of; "
                    + "compute what follows from the change in reduce"))
    }

    @Test("a property wrapper is refused, since it stores changes where the macro cannot see them")
    func wrapper() {
        expectDiagnostics(
            """
            @ReactorState
            struct State {
                @Clamped var a = 0
            }
            """,
            told(
                3, 5,
                "@Clamped stores the property itself, where @ReactorState cannot see it change; "
                    + "store a plain property and wrap it in a computed one"))
    }

    @Test("fields beyond the bits of a word share the last bit")
    func many() {
        let fields = (0..<70).map { "    var field\($0) = 0" }.joined(separator: "\n")
        let expanded = expansion(of: "@ReactorState\nstruct State {\n\(fields)\n}")
        #expect(expanded.contains("_marks.mark(61)") && expanded.contains("_marks.mark(62)"))
        #expect(!expanded.contains("_marks.mark(63)"))
        #expect(expanded.contains("drain.note(62, \"field69\", &self._field69)"))
    }
}
