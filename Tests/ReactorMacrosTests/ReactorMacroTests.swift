import SwiftSyntax
import SwiftSyntaxMacroExpansion
import Testing

@Suite("The code that @Reactor adds")
struct ReactorMacroTests {
    @Test("F9: for a public final class children are passed to the visitor, and react is declared")
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

                public static func childPaths(_ visitor: inout ChildPathVisitor<Shop>) {
                    visitor.child("visits", \\Shop.visits, \\Shop.$visits)
                    visitor.children("rooms", \\Shop.$rooms)
                }

                public static var isReacting: Swift.Bool {
                    true
                }

                public static var documentation: Swift.String {
                    "A shop."
                }

                public static func makeForMirror() -> Self {
                    Self()
                }
            }

            extension Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test(
        "F9: for a struct the initial state follows from a State whose properties all have values")
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

                static func makeForMirror() -> Self {
                    Self()
                }
            }

            extension Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test("Action, Mutation and State become codable unless their author makes them so")
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

                static func makeForMirror() -> Self {
                    Self()
                }
            }

            extension Shop.Action: WireCodable {
            }

            extension Shop.Mutation: WireCodable {
            }

            extension Shop.Reply: WireCodable {
            }

            extension Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test("a reactor with initializer arguments is mirrored through an instance")
    func notMirrorable() {
        expectExpansion(
            """
            @Reactor
            struct Shop {
                typealias Action = Order
                typealias State = Stock
                let city: String
                var initialState: State { Stock() }
            }
            """,
            """
            struct Shop {
                typealias Action = Order
                typealias State = Stock
                let city: String
                var initialState: State { Stock() }
            }

            extension Shop: Reactor {
            }
            """)
    }

    @Test("an author may define how an instance for a mirror is created")
    func ownInstance() {
        expectExpansion(
            """
            @Reactor
            struct Shop {
                typealias Action = Order
                typealias State = Stock
                let city: String
                var initialState: State { Stock() }
                static func makeForMirror() -> Shop { Shop(city: "") }
            }
            """,
            """
            struct Shop {
                typealias Action = Order
                typealias State = Stock
                let city: String
                var initialState: State { Stock() }
                static func makeForMirror() -> Shop { Shop(city: "") }
            }

            extension Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test("a conformance that the author wrote is not repeated")
    func ownConformance() {
        let source = """
            @Reactor
            struct Shop {
                typealias Action = Order
                struct State: WireCodable {}
            }
            """
        func extensions(_ conformances: [TypeSyntax]) -> String {
            expansion(
                of: source,
                macroSpecs: [
                    "Reactor": MacroSpec(type: ReactorMacro.self, conformances: conformances)
                ])
        }
        let (plain, mirrorable) = (ReactorMacro.conformances[0], ReactorMacro.conformances[1])
        #expect(extensions([mirrorable]).contains("extension Shop: MirrorableReactor {"))
        #expect(extensions([plain]).contains("extension Shop: Reactor {"))
        #expect(!extensions([]).contains("extension"))
    }
}
