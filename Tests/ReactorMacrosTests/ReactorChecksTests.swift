import Testing

@Suite("The reactors that @Reactor refuses")
struct ReactorChecksTests {
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
    }

    @Test("F9: a non-final class is refused, with a fix-it that makes it final")
    func openClass() {
        let message =
            "a reactor's rules are fixed when it is mounted; declare it as a final class"
        let body = "{\n    public enum Action { case open }\n    public struct State {}\n}"
        expectFix(
            "@Reactor\nclass Shop \(body)", told(2, 7, message, fix: "insert 'final'"),
            fixed: "@Reactor\nfinal class Shop \(body)")
        expectFix(
            "@Reactor\nopen class Shop \(body)",
            told(2, 12, message, fix: "declare it public final"),
            fixed: "@Reactor\npublic final class Shop \(body)")
    }

    @Test("a missing State or Action is reported, also if an extension may declare it")
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
                    + "declares is not seen)", fix: "insert enum Action"),
            told(
                2, 8,
                "Shop has no State; declare struct State in its body (a type that an extension "
                    + "declares is not seen)", fix: "insert struct State"))
    }

    @Test("the fix-it for a missing State inserts it at the top of the body")
    func insertedState() {
        expectFix(
            """
            enum House {
                @Reactor
                struct Shop {
                    enum Action { case open }
                }
            }
            """,
            told(
                3, 12,
                "Shop has no State; declare struct State in its body (a type that an extension "
                    + "declares is not seen)", fix: "insert struct State"),
            fixed: """
                enum House {
                    @Reactor
                    struct Shop {
                        struct State {}
                        enum Action { case open }
                    }
                }
                """)
    }

    @Test("the fix-it for a missing Action uses the reactor's access level, also in an empty body")
    func insertedAction() {
        let message =
            "Shop has no Action; declare enum Action in its body (a type that an extension "
            + "declares is not seen)"
        expectFix(
            """
            @Reactor
            public struct Shop { public typealias State = Stock
                public var initialState: Stock { Stock() }
            }
            """,
            told(2, 15, message, fix: "insert enum Action"),
            fixed: """
                @Reactor
                public struct Shop {
                    public enum Action: Sendable {
                        case <#name#>
                    } public typealias State = Stock
                    public var initialState: Stock { Stock() }
                }
                """, isComplete: false)
        expectFix(
            """
            @Reactor
            final class Shop: BaseReactor<Shop.Action, Event, Stock> {}
            """,
            told(2, 13, message, fix: "insert enum Action"),
            fixed: """
                @Reactor
                final class Shop: BaseReactor<Shop.Action, Event, Stock> {
                    enum Action {
                        case <#name#>
                    }
                }
                """, isComplete: false)
    }

    @Test("parts with other names, or aliases, are found by the compiler")
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

    @Test("a part with a lower access level than the reactor is refused, with a fix-it")
    func hiddenPart() {
        expectFix(
            """
            @Reactor
            public struct Shop {
                public enum Action: Sendable { case open }
                /// What changes.
                struct State {}
            }
            """,
            told(
                5, 5,
                "State is less visible than Shop, whose clients use it; declare it public",
                fix: "declare it public"),
            fixed: """
                @Reactor
                public struct Shop {
                    public enum Action: Sendable { case open }
                    /// What changes.
                    public struct State {}
                }
                """)
        expectFix(
            """
            @Reactor
            package struct Shop {
                fileprivate indirect enum Action { case open }
                package struct State {}
            }
            """,
            told(
                3, 5,
                "Action is less visible than Shop, whose clients use it; declare it package",
                fix: "declare it package"),
            fixed: """
                @Reactor
                package struct Shop {
                    package indirect enum Action { case open }
                    package struct State {}
                }
                """)
    }

    @Test("a part that is a class is refused, with a fix-it that makes it a struct")
    func objectPart() {
        expectFix(
            """
            @Reactor
            struct Shop {
                enum Action { case open }
                final class State {}
                var initialState: State { State() }
            }
            """,
            told(
                4, 11,
                "State travels between processes as a value; declare it as a struct or an enum",
                fix: "declare it as a struct"),
            fixed: """
                @Reactor
                struct Shop {
                    enum Action { case open }
                    struct State {}
                    var initialState: State { State() }
                }
                """)
    }

    @Test("a type that a part contains must be codable too")
    func uncodedPayload() {
        expectFix(
            """
            @Reactor
            struct Shop {
                enum Action { case sell([Item]) }
                struct State { var shelves: [String: Shelf] = [:] }
                struct Item: Equatable { var price: Price }
                @WireCodable
                struct Shelf { var items: [Item] }
                enum Price: Int { case low, high }
                struct Unused { var call: () -> Void }
            }
            """,
            told(
                5, 12,
                "Item is part of an encoded value, and is not codable; declare it with "
                    + "@WireCodable", fix: "insert '@WireCodable'"),
            told(
                8, 10,
                "Price is part of an encoded value, and is not codable; declare it with "
                    + "@WireCodable", fix: "insert '@WireCodable'"),
            fixed: """
                @Reactor
                struct Shop {
                    enum Action { case sell([Item]) }
                    struct State { var shelves: [String: Shelf] = [:] }
                    @WireCodable
                    struct Item: Equatable { var price: Price }
                    @WireCodable
                    struct Shelf { var items: [Item] }
                    @WireCodable
                    enum Price: Int { case low, high }
                    struct Unused { var call: () -> Void }
                }
                """)
    }

    @Test("a State that cannot be created without values needs an initial one")
    func initialState() {
        let message =
            "Shop has no initial state; give every property of State a value, "
            + "or declare var initialState: State"
        expectFix(
            """
            @Reactor
            struct Shop {
                enum Action { case open }
                struct State { var name: String, rank: Int?, size = 1 }
            }
            """,
            told(2, 8, message, fix: "insert initialState"),
            fixed: """
                @Reactor
                struct Shop {
                    var initialState: State { State(name: <#String#>, rank: <#Int?#>) }
                    enum Action { case open }
                    struct State { var name: String, rank: Int?, size = 1 }
                }
                """, isComplete: false)
        expectFix(
            """
            @Reactor
            public struct Shop {
                public enum Action { case open }
                public enum State { case closed }
            }
            """,
            told(2, 15, message, fix: "insert initialState"),
            fixed: """
                @Reactor
                public struct Shop {
                    public var initialState: State { <#State#> }
                    public enum Action { case open }
                    public enum State { case closed }
                }
                """, isComplete: false)
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
