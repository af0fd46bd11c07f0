import Testing

@Suite("The rules of a reactor")
struct ReactorRuleTests {
    /// A reactor with `members` beside the required types.
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

    /// Checks that the member `before` gets the diagnostic `message` at `column`, with a fix-it
    /// that turns it into `after`.
    private func expectFix(
        _ before: String, _ column: Int, _ message: String, _ title: String, after: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        ReactorMacrosTests.expectFix(
            reactor(before), told(6, column, message, fix: title), fixed: reactor(after),
            sourceLocation: sourceLocation)
    }

    @Test("an async rule is refused, with the place for async work")
    func async() {
        expectFix(
            "func reduce(state: inout State, mutation: Mutation) async {}", 57,
            "reduce may not be async: a fact is applied at once, in every mirror; give async "
                + "work to the effects of mutate", "remove 'async'",
            after: "func reduce(state: inout State, mutation: Mutation) {}")
        expectFix(
            "func mutate(action: Action) async -> Mutations<Mutation> { .none }", 33,
            "mutate may not be async: an action is decided at once; give async work to "
                + "Mutations(async:)", "remove 'async'",
            after: "func mutate(action: Action) -> Mutations<Mutation> { .none }")
    }

    @Test("a rule with other labels would never be called, and is refused")
    func labels() {
        let remedy =
            "would never be called; write "
            + "func reduce(state: inout State, mutation: Mutation)"
        expectFix(
            "func reduce(mutation: Mutation, state: inout State) {}", 16,
            "reduce(mutation:state:) \(remedy)", "write 'reduce(state:mutation:)'",
            after: "func reduce(state: inout State, mutation: Mutation) {}")
        expectFix(
            "func reduce(_ value: inout State, with mutation: Mutation) {}", 16,
            "reduce(_:with:) \(remedy)", "write 'reduce(state:mutation:)'",
            after: "func reduce(state value: inout State, mutation: Mutation) {}")
        expectDiagnostics(
            reactor("func reduce(_ values: [State]) {}"),
            told(6, 16, "reduce(_:) \(remedy)"))
    }

    @Test("a rule with another parameter type would never be called, and is refused")
    func parameterTypes() {
        expectFix(
            "func reduce(state: inout State, mutation: Action) {}", 47,
            "reduce with mutation: Action would never be called; the type is Mutation",
            "write 'Mutation'", after: "func reduce(state: inout State, mutation: Mutation) {}")
    }

    @Test("an alias of a part is recognised as the part")
    func aliases() {
        expectDiagnostics(
            """
            @Reactor
            struct Words {
                typealias Action = [String]
                typealias Mutation = Action
                struct State { var words: [String] = [] }
                func mutate(action: [ String ], state: State) -> Mutations<Action> { .none }
                func reduce(state: inout State, mutation: Action) {}
                func error(_ error: any Error, action: [String]?, state: State)
                    -> Mutations<Mutation> { .none }
                func transform(action: Transform<[String]>) -> Transform<[String]> { action }
            }
            """)
    }

    @Test("a rule with a result other than mutations would never be called, and is refused")
    func results() {
        expectFix(
            "func mutate(action: Action) -> Mutations<Action> { .none }", 46,
            "mutate that decides Mutations<Action> would never be called; the type is Mutation",
            "write 'Mutation'",
            after: "func mutate(action: Action) -> Mutations<Mutation> { .none }")
        expectDiagnostics(
            reactor("func mutate(action: Action) {}"),
            told(
                6, 10,
                "mutate would never be called: write func mutate(action: Action, state: State) "
                    + "throws(Rejection) -> Mutations<Mutation>"))
    }

    @Test("a reducer either changes the state in place or returns one, not both")
    func reducers() {
        expectFix(
            "func reduce(state: State, mutation: Mutation) {}", 24,
            "reduce that changes no state would never be called; the state is inout State",
            "insert 'inout'", after: "func reduce(state: inout State, mutation: Mutation) {}")
        expectFix(
            "func reduce(state: inout State, mutation: Mutation) -> State { state }", 24,
            "reduce that changes a state and returns one would never be called; remove inout, or "
                + "the result",
            "remove 'inout'",
            after: "func reduce(state: State, mutation: Mutation) -> State { state }")
        expectDiagnostics(
            reactor("func reduce(state: State, mutation: Mutation) -> State { state }"))
    }

    @Test("a static, mutating or private rule would never be called, and is refused")
    func modifiers() {
        for word in ["static", "mutating", "private"] {
            expectFix(
                "\(word) func reduce(state: inout State, mutation: Mutation) {}", 5,
                "reduce that is \(word) would never be called; remove the word",
                "remove '\(word)'",
                after: "func reduce(state: inout State, mutation: Mutation) {}")
        }
    }

    @Test("mutate rejects with a Rejection, and no other rule may throw")
    func throwing() {
        for clause in ["throws", "throws(any Error)"] {
            expectFix(
                "func mutate(action: Action) \(clause) -> Mutations<Mutation> { .none }", 33,
                "mutate refuses an action with a Rejection; write throws(Rejection)",
                "write 'throws(Rejection)'",
                after: "func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> "
                    + "{ .none }")
        }
        expectFix(
            "func reduce(state: inout State, mutation: Mutation) throws(Rejection) {}", 57,
            "reduce may not throw: it handles what has happened; refuse in mutate",
            "remove 'throws(Rejection)'",
            after: "func reduce(state: inout State, mutation: Mutation) {}")
    }

    @Test("a hook with other labels would never be called, and is refused")
    func hooks() {
        let own = ", or make a function of another kind private"
        let transforms =
            "func transform(action: Transform<Action>) -> Transform<Action> or "
            + "func transform(mutation: Transform<Mutation>) -> Transform<Mutation> or "
            + "func transform(state: Transform<State>) -> Transform<State>"
        let cancel = "func shouldCancel(current: Action, upcoming: Action) -> Bool"
        expectDiagnostics(
            reactor(
                "func transform(_ actions: Transform<Action>) -> Transform<Action> { actions }"),
            told(
                6, 19, "transform(_:) would never be called; write \(transforms)\(own)"))
        expectDiagnostics(
            reactor("func start() -> Mutations<Mutation> { .none }"),
            told(
                6, 15,
                "start() would never be called; write "
                    + "func start(state: State) -> Mutations<Mutation>\(own)"))
        let result = " -> Mutations<Mutation> { .none }"
        expectFix(
            "func error(error: any Error, action: Action?, in state: State)\(result)", 15,
            "error(error:action:in:) would never be called; write "
                + "func error(_ error: any Error, action: Action?, state: State) "
                + "-> Mutations<Mutation>\(own)",
            "write 'error(_:action:state:)'",
            after: "func error(_ error: any Error, action: Action?, state: State)\(result)")
        expectFix(
            "func error(_ error: any Error, action: Action, state: State)\(result)", 44,
            "error with action: Action would never be called; the type is Action?",
            "write 'Action?'",
            after: "func error(_ error: any Error, action: Action?, state: State)\(result)")
        expectDiagnostics(
            reactor("func childFailed(_ failure: ChildFailure)\(result)"),
            told(
                6, 21,
                "childFailed(_:) would never be called; write func childFailed(_ failure: "
                    + "ChildFailure, state: State) -> Mutations<Mutation>"))
        expectDiagnostics(
            reactor("func sagaFailed(_ failure: SagaFailure)\(result)"),
            told(
                6, 20,
                "sagaFailed(_:) would never be called; write func sagaFailed(_ failure: "
                    + "SagaFailure, state: State) -> Mutations<Mutation>"))
        expectFix(
            "func shouldCancel(_ current: Action, _ next: Action) -> Bool { true }", 22,
            "shouldCancel(_:_:) would never be called; write \(cancel)",
            "write 'shouldCancel(current:upcoming:)'",
            after: "func shouldCancel(current: Action, upcoming next: Action) -> Bool { true }")
        expectDiagnostics(
            reactor("func shouldCancel(current: Action, upcoming: Action) {}"),
            told(6, 10, "shouldCancel would never be called: write \(cancel)"))
    }

    @Test("a correct hook, and a private function with its name, are left alone")
    func fittingHooks() {
        expectDiagnostics(
            reactor(
                """
                func start(state: State) -> Mutations<Mutation> { .none }
                private func start(job: Int) {}
                static func error(_ text: String) -> Rejection { Rejection("no", text) }
                func transform(action: Transform<Action>) -> Transform<Action> { action }
                func transform(mutation: Transform<Mutation>) -> Transform<Mutation> { mutation }
                func transform(state: Transform<State>) -> Transform<State> { state }
                func error(
                    _ error: any Error, action: Shop.Action?, state: State
                ) -> Mutations<Mutation> { .none }
                func childFailed(
                    _ failure: ChildFailure, state: State
                ) -> Mutations<Mutation> { .none }
                func sagaFailed(
                    _ failure: SagaFailure, state: State
                ) -> Mutations<Mutation> { .none }
                func shouldCancel(current: Action, upcoming: Action) -> Bool { true }
                """))
    }

    @Test("the hooks with a context are left alone")
    func hooksWithContext() {
        expectDiagnostics(
            reactor(
                """
                func start(
                    state: State, context: ReactorContext<Self>
                ) -> Mutations<Mutation> { .none }
                func error(
                    _ error: any Error, action: Action?, state: State, context: ReactorContext<Self>
                ) -> Mutations<Mutation> { .none }
                func childFailed(
                    _ failure: ChildFailure, state: State, context: ReactorContext<Self>
                ) -> Mutations<Mutation> { .none }
                func sagaFailed(
                    _ failure: SagaFailure, state: State, context: ReactorContext<Self>
                ) -> Mutations<Mutation> { .none }
                """))
    }

    @Test("a transform with the values of another part is refused")
    func transformTypes() {
        expectFix(
            "func transform(mutation: Transform<Action>) -> Transform<Action> { mutation }", 30,
            "transform with mutation: Transform<Action> would never be called; the type is "
                + "Mutation",
            "write 'Mutation'",
            after: "func transform(mutation: Transform<Mutation>) -> Transform<Action> { mutation }"
        )
    }
}
