import Testing

@Suite("Types in a value that are not codable")
struct UncodedTypeTests {
    @Test("a nested type used by a field is refused, with a fix-it that adds the macro")
    func nested() {
        expectFix(
            """
            @WireCodable
            public struct Basket {
                public var items: [Item?]

                /// A thing.
                public struct Item: Hashable, Sendable { public var name: String }
            }
            """,
            told(
                6, 19,
                "Item is part of an encoded value, and is not codable; declare it with "
                    + "@WireCodable", fix: "insert '@WireCodable'"),
            fixed: """
                @WireCodable
                public struct Basket {
                    public var items: [Item?]

                    /// A thing.
                    @WireCodable
                    public struct Item: Hashable, Sendable { public var name: String }
                }
                """)
    }

    @Test("a nested class used by a case is refused, with a fix-it that makes it a struct")
    func object() {
        expectFix(
            """
            @WireCodable
            enum Order {
                case buy(Item)
                final class Item {}
            }
            """,
            told(
                4, 17,
                "Item is part of an encoded value, and an object stays in its process; "
                    + "declare it as a struct", fix: "declare it as a struct"),
            fixed: """
                @WireCodable
                enum Order {
                    case buy(Item)
                    struct Item {}
                }
                """, isComplete: false)
    }

    @Test("types coded by hand or by the author's protocol, and unused types, are left alone")
    func trusted() {
        expectDiagnostics(
            """
            @WireCodable
            struct Basket {
                var item: Item, box: Box, bag: Bag
                struct Item: ReactorWire.WireCodable {}
                struct Box: Packable {}
                @WireCodable struct Bag {}
                struct Helper { var call: () -> Void }
                var helper: Helper { Helper(call: {}) }
            }
            """)
    }
}
