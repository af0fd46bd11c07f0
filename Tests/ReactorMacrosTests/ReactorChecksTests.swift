import Testing

@Suite("The reactors that @Reactor refuses")
struct ReactorChecksTests {
    /// A reactor with `members` beside the types that every one needs.
    private func reactor(_ members: String) -> String {
        """
        @Reactor
        struct Shop {
            enum Action { case open }
            enum Mutation { case opened }
            struct State { var isOpen = false }
            \(members)
        }
        """
    }

    @Test("a reactor is a struct or a final class")
    func kinds() {
        for introducer in ["enum", "actor"] {
            expectDiagnostics(
                """
                @Reactor
                \(introducer) Shop {}
                """,
                told(
                    2, 1,
                    "@Reactor works on a struct or a final class: its functions are the rules, "
                        + "its nested State is what changes"))
        }
        expectDiagnostics(
            """
            @Reactor
            class Shop {
                enum Action { case open }
                struct State {}
            }
            """,
            told(
                2, 7,
                "a reactor's rules are fixed when it is mounted; declare it as a final class"))
    }

    @Test("a missing State or Action is named, also where an extension may declare it")
    func missingParts() {
        expectDiagnostics(
            """
            @Reactor
            struct Shop {}
            extension Shop { struct State {} }
            """,
            told(
                2, 8,
                "Shop has no Action; declare enum Action in its body (a type that an extension "
                    + "declares is not seen)"),
            told(
                2, 8,
                "Shop has no State; declare struct State in its body (a type that an extension "
                    + "declares is not seen)"))
    }

    @Test("parts under other names, or by alias, are found by the compiler")
    func inferredParts() {
        expectDiagnostics(
            """
            @Reactor
            struct Shop {
                typealias State = Int
                var initialState: Int { 0 }
                func mutate(action: Order) throws(Rejection) -> Mutations<Order> { .none }
            }
            """)
    }

    @Test("a reactor inside a function is refused")
    func local() {
        expectDiagnostics(
            """
            func test() {
                @Reactor
                struct Shop {
                    enum Action { case open }
                    struct State {}
                }
            }
            """,
            told(
                3, 12,
                "a reactor inside a function cannot conform; declare it at file scope or in a "
                    + "type"))
    }

    @Test("a part that is less visible than the reactor is refused")
    func hiddenPart() {
        expectDiagnostics(
            """
            @Reactor
            public struct Shop {
                public enum Action: Sendable { case open }
                struct State {}
            }
            """,
            told(
                4, 5,
                "State is less visible than Shop, whose clients use it; declare it public"))
    }

    @Test("a State that cannot be made without values needs an initial one")
    func initialState() {
        expectDiagnostics(
            """
            @Reactor
            struct Shop {
                enum Action { case open }
                struct State { var name: String, rank: Int? }
            }
            """,
            told(
                2, 8,
                "Shop does not say which state it starts with; give every property of State a "
                    + "value, or declare var initialState: State"))
    }

    @Test("a child with the name of a field of State is refused, because a path could mean either")
    func childIsField() {
        expectDiagnostics(
            reactor("@Child var isOpen = Door()"),
            told(
                6, 5,
                "child \"isOpen\" has the name of a field of State, and a path could mean either; "
                    + "rename one"))
    }
}
