import Testing

@Suite("Diagnostics for authors")
struct MacroDiagnosticTests {
    @Test("a mistake is reported once, though both roles of the macro see it, and no code is added")
    func once() {
        let source = """
            @WireCodable
            struct State {
                var call: () -> Void
            }
            """
        expectDiagnostics(
            source,
            told(
                3, 15,
                "\"call\" is a function, which cannot be coded; keep it outside, or make it a "
                    + "computed property"))
        #expect(!expansion(of: source).contains("extension"))
    }
}
