import Testing

/// The complete expansions of `@Reactor` for each kind of type; the codable parts are aliases
/// here, because `@WireCodable` has tests of its own.
extension ReactorMacroTests {
    @Test("F9: for a package struct the generated code has the reactor's access level")
    func packageStruct() {
        expectExpansion(
            """
            /// A shop.
            ///
            /// With a counter.
            @Reactor
            package struct Shop {
                package typealias Action = Order
                package struct State: WireCodable {}
                @Child private var visits = Counter()
            }
            """,
            """
            /// A shop.
            ///
            /// With a counter.
            package struct Shop {
                package typealias Action = Order
                package struct State: WireCodable {}
                @Child private var visits = Counter()

                package var initialState: State {
                    State()
                }

                package func children(_ visitor: inout ChildVisitor) {
                    visitor.child("visits", self._visits)
                }

                package static func childPaths(_ visitor: inout ChildPathVisitor<Shop>) {
                    visitor.child("visits", \\Shop.visits, \\Shop.$visits)
                }

                package static var documentation: Swift.String {
                    "A shop."
                }

                package static func makeForMirror() -> Self {
                    Self()
                }
            }

            extension Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test("F9: a reactor nested in an extension has the extension's access level")
    func nestedInExtension() {
        expectExpansion(
            """
            public extension House {
                @Reactor
                struct Shop {
                    public typealias Action = Order
                    struct State: WireCodable {}
                }
            }
            """,
            """
            public extension House {
                struct Shop {
                    public typealias Action = Order
                    struct State: WireCodable {}

                    public var initialState: State {
                        State()
                    }

                    public static func makeForMirror() -> Self {
                        Self()
                    }
                }
            }

            extension House.Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test("F9: a generic reactor names itself without its parameters")
    func generic() {
        expectExpansion(
            """
            @Reactor
            struct Shop<Item: WireCodable & Sendable> where Item: Hashable {
                typealias Action = Order<Item>
                struct State: WireCodable {
                    var items: [Item] = []
                }
                @Children var shelves = { (key: WireKey) in Shelf<Item>() }
            }
            """,
            """
            struct Shop<Item: WireCodable & Sendable> where Item: Hashable {
                typealias Action = Order<Item>
                struct State: WireCodable {
                    var items: [Item] = []
                }
                @Children var shelves = { (key: WireKey) in Shelf<Item>() }

                var initialState: State {
                    State()
                }

                func children(_ visitor: inout ChildVisitor) {
                    visitor.children("shelves", self._shelves)
                }

                static func childPaths(_ visitor: inout ChildPathVisitor<Shop>) {
                    visitor.children("shelves", \\Shop.$shelves)
                }

                static func makeForMirror() -> Self {
                    Self()
                }
            }

            extension Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test("F9: a reactor with reactions declares them, and calls the function of each child")
    func reactions() {
        expectExpansion(
            """
            @Reactor
            public struct Shop {
                public typealias Action = Order
                public typealias Mutation = Sale
                public typealias State = Stock
                public var initialState: Stock { Stock() }
                @Child var visits = Counter()
                @Children var rooms = { Room($0) }

                @Reacts(to: \\Shop.$visits)
                func visited(_ mutation: Counter.Mutation, state: State) -> Mutations<Mutation>
                { .none }

                @Reacts(to: \\Shop.$rooms)
                func changed(_ mutation: Room.Mutation, key: WireKey) -> Mutations<Mutation>
                { .none }
            }
            """,
            """
            public struct Shop {
                public typealias Action = Order
                public typealias Mutation = Sale
                public typealias State = Stock
                public var initialState: Stock { Stock() }
                @Child var visits = Counter()
                @Children var rooms = { Room($0) }
                func visited(_ mutation: Counter.Mutation, state: State) -> Mutations<Mutation>
                { .none }
                func changed(_ mutation: Room.Mutation, key: WireKey) -> Mutations<Mutation>
                { .none }

                public func children(_ visitor: inout ChildVisitor) {
                    visitor.child("visits", self._visits)
                    visitor.children("rooms", self._rooms)
                }

                public static func childPaths(_ visitor: inout ChildPathVisitor<Shop>) {
                    visitor.child("visits", \\Shop.visits, \\Shop.$visits)
                    visitor.children("rooms", \\Shop.$rooms)
                }

                public func react(to change: ChildChange, state: State) -> Mutations<Mutation> {
                    if let mutation = change.mutation(of: self.$visits) {
                        return self.visited(mutation, state: state)
                    }
                    if let (key, mutation) = change.mutation(of: self.$rooms) {
                        return self.changed(mutation, key: key)
                    }
                    return .none
                }

                public static var isReacting: Swift.Bool {
                    true
                }

                public static func makeForMirror() -> Self {
                    Self()
                }
            }

            extension Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test("F7: a subclass of the base class is created with its state's default values")
    func subclass() {
        expectExpansion(
            """
            @Reactor
            public final class Shop: BaseReactor<Order, Sale, Shop.State> {
                public struct State: WireCodable {
                    var sold = 0
                }
                let city = "Ulm"
            }
            """,
            """
            public final class Shop: BaseReactor<Order, Sale, Shop.State> {
                public struct State: WireCodable {
                    var sold = 0
                }
                let city = "Ulm"

                public convenience init() {
                    self.init(initialState: State())
                }

                public static func makeForMirror() -> Self {
                    Self()
                }
            }

            extension Shop: Reactor, MirrorableReactor {
            }
            """)
    }

    @Test("F7: a subclass of a generic class gets no member that the class may have")
    func genericBase() {
        expectExpansion(
            """
            @Reactor
            final class Shop: Logged<Order, Shop.State> {
                struct State: WireCodable {
                    var sold = 0
                }
                override func reduce(state: inout State, mutation: Order) {}
            }
            """,
            """
            final class Shop: Logged<Order, Shop.State> {
                struct State: WireCodable {
                    var sold = 0
                }
                override func reduce(state: inout State, mutation: Order) {}
            }

            extension Shop: Reactor {
            }
            """)
    }

    @Test("F7: a subclass with its own initializer keeps it")
    func madeByHand() {
        expectExpansion(
            """
            @Reactor
            final class Shop: ReactorCore.BaseReactor<Order, Sale, Stock> {
                let city: String
                init(city: String) {
                    self.city = city
                    super.init(initialState: Stock())
                }
            }
            """,
            """
            final class Shop: ReactorCore.BaseReactor<Order, Sale, Stock> {
                let city: String
                init(city: String) {
                    self.city = city
                    super.init(initialState: Stock())
                }
            }

            extension Shop: Reactor {
            }
            """)
    }
}
