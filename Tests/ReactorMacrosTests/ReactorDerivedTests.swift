import Testing

@Suite("Derived values in @Reactor")
struct ReactorDerivedTests {
    @Test("derived values are passed to the visitor after the children, with their comments")
    func members() {
        expectExpansion(
            """
            @Reactor
            struct Shop {
                typealias Action = Order
                typealias State = Stock
                /// What the shop
                /// has sold.
                @Derived var sold = Derivation.sum(over: \\Shop.$rooms) { $0.sold }
                @Derived var first = Derivation { (state: Stock) in state.first }
                @Children var rooms = { (id: Int) in Room(id) }
                var initialState: Stock { Stock() }
            }
            """,
            """
            struct Shop {
                typealias Action = Order
                typealias State = Stock
                /// What the shop
                /// has sold.
                @Derived var sold = Derivation.sum(over: \\Shop.$rooms) { $0.sold }
                @Derived var first = Derivation { (state: Stock) in state.first }
                @Children var rooms = { (id: Int) in Room(id) }
                var initialState: Stock { Stock() }

                func children(_ visitor: inout ChildVisitor) {
                    visitor.children("rooms", self._rooms)
                    visitor.derived("sold", self._sold, documentation: "What the shop has sold.")
                    visitor.derived("first", self._first)
                }

                static func childPaths(_ visitor: inout ChildPathVisitor<Shop>) {
                    visitor.children("rooms", \\Shop.$rooms)
                    visitor.derived("sold", \\Shop.$sold)
                    visitor.derived("first", \\Shop.$first)
                }

                static func makeForMirror() -> Self {
                    Self()
                }
            }

            extension Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test("a derived value with the name of a field, and a reaction to one, are refused")
    func refusals() {
        expectDiagnostics(
            """
            @Reactor
            struct Shop {
                enum Action { case sell }
                struct State { var sold = 0 }
                @Derived var sold = Derivation { (state: State) in state.sold }
            }
            """,
            told(
                5, 5,
                "child \"sold\" has the name of a field of State, and a path could mean either; "
                    + "rename one"))
        expectDiagnostics(
            """
            @Reactor
            struct Shop {
                enum Action { case sell }
                struct State { var sold = 0 }
                @Derived var twice = Derivation { (state: State) in state.sold * 2 }
                @Reacts(to: \\Shop.$twice) func changed(_ twice: Int) -> Mutations<Action> { .none }
            }
            """,
            told(
                6, 5,
                "twice is a derived value and has no mutations; react to what it is computed from"))
    }
}
