import Testing

@Suite("Functions with @Reacts")
struct ReactorReactionTests {
    /// A reactor with children and `members`.
    private func shop(_ members: String) -> String {
        """
        @Reactor
        struct Shop {
            enum Action { case open }
            struct State {}
            @Child var visits = Counter()
            @Children var rooms = { Room($0) }
            \(members)
        }
        """
    }

    @Test("F65: react(to:state:) is generated from the functions, in their order")
    func expanded() {
        let expanded = expansion(
            of: shop(
                """
                @Reacts(to: \\Shop.$visits)
                private func visited(_ mutation: Counter.Mutation, state: State) -> Mutations<Action>
                { .none }
                @Reacts(to: \\Shop.$rooms)
                func changed(_: Room.Mutation, key: WireKey) -> Mutations<Action> { .none }
                """))
        #expect(
            expanded.contains(
                """
                    func react(to change: ChildChange, state: State) -> Mutations<Action> {
                        if let mutation = change.mutation(of: self.$visits) {
                            return self.visited(mutation, state: state)
                        }
                        if let (key, mutation) = change.mutation(of: self.$rooms) {
                            return self.changed(mutation, key: key)
                        }
                        return .none
                    }

                    static var isReacting: Swift.Bool {
                        true
                    }
                """))
        #expect(!expanded.contains("@Reacts"))
    }

    @Test("a function may take the context, which the generated function then receives")
    func context() {
        let expanded = expansion(
            of: shop(
                """
                @Reacts(to: \\Shop.$visits)
                func visited(_ mutation: Counter.Mutation) -> Mutations<Action> { .none }
                @Reacts(to: \\Shop.$rooms)
                func changed(
                    _: Room.Mutation, key: WireKey, state: State, context: ReactorContext<Self>
                ) -> Mutations<Action> { .none }
                """))
        #expect(
            expanded.contains(
                """
                    func react(to change: ChildChange, state: State, context: ReactorContext<Shop>) \
                -> Mutations<Action> {
                        if let mutation = change.mutation(of: self.$visits) {
                            return self.visited(mutation)
                        }
                        if let (key, mutation) = change.mutation(of: self.$rooms) {
                            return self.changed(mutation, key: key, state: state, context: context)
                        }
                        return .none
                    }
                """))
    }

    @Test("a reacting function beside react(to:state:) would never be called, and is refused")
    func both() {
        expectDiagnostics(
            shop(
                """
                func react(to change: ChildChange, state: State) -> Mutations<Action> { .none }
                @Reacts(to: \\Shop.$visits) func visited(_ mutation: Int) -> Mutations<Action> { .none }
                """),
            told(
                8, 1,
                "@Reacts generates react(to:state:), and the reactor has one already; "
                    + "remove one of the two"))
    }

    @Test("two functions that react to one child are refused")
    func repeated() {
        let function = "(_ mutation: Int) -> Mutations<Action> { .none }"
        expectDiagnostics(
            shop(
                """
                @Reacts(to: \\Shop.$visits) func first\(function)
                @Reacts(to: \\Shop.$visits) func second\(function)
                """),
            told(
                8, 1,
                "another function reacts to visits, and this one would never be called; make them "
                    + "one"))
    }

    @Test("a function reacts to a child of the reactor, named by its handle")
    func paths() {
        let function = "func visited(_ mutation: Int) -> Mutations<Action> { .none }"
        for path in ["\\Shop.visits", "handle"] {
            expectDiagnostics(
                shop("@Reacts(to: \(path)) \(function)"),
                told(
                    7, 5,
                    "@Reacts names a child by its handle; write @Reacts(to: \\Shop.$name)"))
        }
        expectDiagnostics(
            shop("@Reacts(to: \\Shop.$doors) \(function)"),
            told(
                7, 5,
                "Shop has no child doors in its body; declare it with @Child or @Children"))
    }

    @Test("a function with other parameters is refused, with the allowed ones")
    func shapes() {
        expectDiagnostics(
            shop(
                "@Reacts(to: \\Shop.$visits) "
                    + "func visited(mutation: Int, state: State) -> Mutations<Action> { .none }"),
            told(
                7, 44,
                "visited(mutation:state:) cannot react to visits; write "
                    + "func visited(_ mutation: …, state: State) -> Mutations<Mutation>"))
        expectDiagnostics(
            shop(
                "@Reacts(to: \\Shop.$rooms) "
                    + "func changed(_ mutation: Int, state: State) -> Mutations<Action> { .none }"),
            told(
                7, 43,
                "changed(_:state:) cannot react to rooms; write "
                    + "func changed(_ mutation: …, key: WireKey, state: State) -> "
                    + "Mutations<Mutation>"))
    }

    @Test("a function that is async, throws, mutates or returns nothing gets a fix-it")
    func effects() {
        let attribute = "@Reacts(to: \\Shop.$visits) "
        let fine = "func visited(_ mutation: Int) -> Mutations<Mutation> { .none }"
        let faults = [
            (
                "func visited(_ mutation: Int) async -> Mutations<Mutation> { .none }", 62,
                "visited is part of the child's transaction; remove async, and give async work to "
                    + "Mutations(async:)", "remove 'async'"
            ),
            (
                "func visited(_ mutation: Int) throws(Rejection) -> Mutations<Mutation> { .none }",
                62,
                "visited may not throw: the mutation is applied; refuse in the child's mutate",
                "remove 'throws(Rejection)'"
            ),
            (
                "mutating func visited(_ mutation: Int) -> Mutations<Mutation> { .none }", 32,
                "visited is called on a reactor that does not change; remove mutating",
                "remove 'mutating'"
            ),
            (
                "func visited(_ mutation: Int) { .none }", 37,
                "visited reacts to a child's mutation; let it return "
                    + "Mutations<Mutation>", "insert '-> Mutations<Mutation>'"
            ),
        ]
        for (function, column, message, fix) in faults {
            expectFix(
                shop(attribute + function), told(7, column, message, fix: fix),
                fixed: shop(attribute + fine))
        }
    }
}
