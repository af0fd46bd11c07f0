import Testing

@Suite("What @ReactorState cannot record")
struct ReactorStateFieldTests {
    @Test("several properties in one declaration are told apart by declaring each")
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

    @Test("observers are part of the accessors that are replaced")
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

    @Test("a wrapper that is not ours hides its changes")
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

    @Test("more fields than a word has bits share the last one")
    func many() {
        let fields = (0..<70).map { "    var field\($0) = 0" }.joined(separator: "\n")
        let expanded = expansion(of: "@ReactorState\nstruct State {\n\(fields)\n}")
        #expect(expanded.contains("_marks.mark(61)") && expanded.contains("_marks.mark(62)"))
        #expect(!expanded.contains("_marks.mark(63)"))
        #expect(expanded.contains("drain.note(62, \"field69\", &self._field69)"))
    }
}
