import Testing

@Suite("The cases that @WireCodable refuses")
struct WireCaseTests {
    @Test("a payload with and without labels is refused")
    func mixedLabels() {
        expectDiagnostics(
            """
            @WireCodable
            enum Action { case move(Int, by: Int) }
            """,
            told(
                2, 20,
                "case \"move\" labels some of its values and not others; label all of them (a map "
                    + "on the wire) or none (an array)"))
    }

    @Test("an enum without cases is refused")
    func noCases() {
        expectDiagnostics(
            """
            @WireCodable
            enum Never {}
            """,
            told(
                2, 6,
                "an enum without cases has no value to code; give it a case, or leave "
                    + "@WireCodable out"))
    }
}
