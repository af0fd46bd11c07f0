import Testing

@Suite("The rules that @Reactor refuses")
struct ReactorRuleTests {
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
}
