import Testing

@Suite("What @Reactor adds to a type")
struct ReactorMacroTests {
    @Test("children are shown to the visitor, and react is announced")
    func children() {
        expectExpansion(
            """
            /// A shop.
            @Reactor
            public final class Shop {
                public typealias Action = Order
                public typealias State = Stock
                @Child var visits = Counter()
                @Children var rooms = { Room($0) }
                public var initialState: State { Stock() }
                public func react(to change: ChildChange, state: State) -> Mutations<Action> {
                    .none
                }
            }
            """,
            """
            /// A shop.
            public final class Shop {
                public typealias Action = Order
                public typealias State = Stock
                @Child var visits = Counter()
                @Children var rooms = { Room($0) }
                public var initialState: State { Stock() }
                public func react(to change: ChildChange, state: State) -> Mutations<Action> {
                    .none
                }

                public func children(_ visitor: inout ChildVisitor) {
                    visitor.child("visits", self._visits)
                    visitor.children("rooms", self._rooms)
                }

                public static var isReacting: Swift.Bool {
                    true
                }

                public static var documentation: Swift.String {
                    "A shop."
                }
            }

            extension Shop: Reactor {
            }
            """)
    }

    @Test("the initial state follows from a State whose properties all have values")
    func initialState() {
        expectExpansion(
            """
            @Reactor
            struct Shop {
                typealias Action = Order
                struct State: WireCodable {
                    var isOpen = false, note: String?, list: [Int] = []
                }
            }
            """,
            """
            struct Shop {
                typealias Action = Order
                struct State: WireCodable {
                    var isOpen = false, note: String?, list: [Int] = []
                }

                var initialState: State {
                    State()
                }
            }

            extension Shop: Reactor {
            }
            """)
    }

    @Test("what travels is coded unless its author says how")
    func parts() {
        expectExpansion(
            """
            @Reactor
            struct Shop {
                @WireCodable enum Action: Int {
                    case open
                }
                enum Mutation: Int {
                    case opened
                }
                struct State: WireCodable {}
                enum Reply: Int {
                    case thanks
                }
                struct Other {}
            }
            """,
            """
            struct Shop {
                enum Action: Int {
                    case open
                }
                enum Mutation: Int {
                    case opened
                }
                struct State: WireCodable {}
                enum Reply: Int {
                    case thanks
                }
                struct Other {}

                var initialState: State {
                    State()
                }
            }

            extension Shop.Action: WireCodable {
            }

            extension Shop.Mutation: WireCodable {
            }

            extension Shop.Reply: WireCodable {
            }

            extension Shop: Reactor {
            }
            """)
    }
}
