import Testing

@Suite("What @Reactor refuses, and what it tells the author to do")
struct ReactorDiagnosticTests {
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
                "a reactor inside a function cannot conform; declare it at file scope or in a type"))
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

    @Test("a rule that would wait is refused, and told where async work goes")
    func async() {
        expectDiagnostics(
            reactor("func reduce(state: inout State, mutation: Mutation) async {}"),
            told(
                6, 57,
                "reduce may not be async: a fact is applied at once, in every mirror; give async "
                    + "work to the effects of mutate"))
        expectDiagnostics(
            reactor("func mutate(action: Action) async -> Mutations<Mutation> { .none }"),
            told(
                6, 33,
                "mutate may not be async: an action is decided at once; give async work to "
                    + "Mutations(async:)"))
    }

    @Test("a rule with other labels would silently never be called, and is refused")
    func labels() {
        expectDiagnostics(
            reactor("func reduce(mutation: Mutation, state: inout State) {}"),
            told(
                6, 16,
                "reduce(mutation:state:) would never be called; write "
                    + "func reduce(state: inout State, mutation: Mutation)"))
    }

    @Test("a rule with another type would silently never be called, and is refused")
    func parameterTypes() {
        expectDiagnostics(
            reactor("func reduce(state: inout State, mutation: Action) {}"),
            told(
                6, 47,
                "reduce with mutation: Action would never be called; the type is Mutation"))
    }

    @Test("a rule that is static, mutating or private would never be called, and is refused")
    func modifiers() {
        for word in ["static", "mutating", "private"] {
            expectDiagnostics(
                reactor("\(word) func reduce(state: inout State, mutation: Mutation) {}"),
                told(6, 5, "reduce that is \(word) would never be called; remove the word"))
        }
    }

    @Test("mutate refuses with a Rejection, and no other rule may throw")
    func throwing() {
        expectDiagnostics(
            reactor("func mutate(action: Action) throws -> Mutations<Mutation> { .none }"),
            told(
                6, 33,
                "mutate refuses an action with a Rejection; write throws(Rejection)"))
        expectDiagnostics(
            reactor("func reduce(state: inout State, mutation: Mutation) throws(Rejection) {}"),
            told(
                6, 57,
                "reduce may not throw: what it is given has happened; refuse in mutate"))
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
