import Testing

@Suite("The places of @Reacts")
struct ReactsMacroTests {
    private let function = "func visited(_ mutation: Int) -> Mutations<Action> { .none }"

    @Test("@Reacts outside a reactor's body is refused, because it would have no effect")
    func place() {
        expectDiagnostics(
            """
            struct Shop {
                @Reacts(to: \\Shop.$visits)
                \(function)
            }
            """,
            told(
                2, 5,
                "@Reacts has no effect in a type without @Reactor; add it, or write "
                    + "react(to:state:) by hand"))
        expectDiagnostics(
            """
            extension Shop {
                @Reacts(to: \\Shop.$visits)
                \(function)
            }
            """,
            told(
                2, 5,
                "@Reactor does not see an extension, and the function would never be called; move "
                    + "it into the reactor's body"))
    }

    @Test("@Reacts on anything but a function is refused")
    func kind() {
        expectDiagnostics(
            """
            @Reactor
            struct Shop {
                enum Action { case open }
                struct State {}
                @Reacts(to: \\Shop.$visits)
                var visited: Int { 1 }
            }
            """,
            told(
                5, 5,
                "@Reacts marks a reaction to a child's mutation; put it on a function"))
    }
}
