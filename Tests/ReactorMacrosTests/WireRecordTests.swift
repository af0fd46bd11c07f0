import Testing

/// Drives ``RecordExpansion``.
@Suite("The structs that @WireCodable refuses")
struct WireRecordTests {
    @Test("a property whose value does not show its type must get one, and a guess is offered")
    func typeMissing() {
        expectFix(
            """
            @WireCodable
            struct State {
                var count = 3, rate = -1.5, name = "", isOpen = true
                var place = Cell.first
            }
            """,
            told(
                4, 9,
                "the type of \"place\" is not visible to @WireCodable; write it: place: Cell",
                fix: "insert ': Cell'"),
            fixed: """
                @WireCodable
                struct State {
                    var count = 3, rate = -1.5, name = "", isOpen = true
                    var place: Cell = Cell.first
                }
                """)
        expectDiagnostics(
            """
            @WireCodable
            struct State { var place = origin }
            """,
            told(
                2, 20,
                "the type of \"place\" is not visible to @WireCodable; write it: place: Type"))
    }

    @Test("a wrapped property is refused, because its storage belongs to the wrapper")
    func propertyWrapper() {
        expectDiagnostics(
            """
            @WireCodable
            struct State { @Clamped(0...9) var level: Int }
            """,
            told(
                2, 16,
                "@Clamped changes how the property is stored, which the wire cannot see; store a "
                    + "plain property and wrap it in a computed one"))
    }

    @Test("a duplicate name or alias is refused")
    func duplicateNames() {
        expectDiagnostics(
            """
            @WireCodable
            struct State {
                var count: Int
                @WireAlias("count") var total: Int
            }
            """,
            told(
                2, 8,
                "the wire name \"count\" belongs to more than one property; rename one, or remove "
                    + "the alias"))
        expectDiagnostics(
            """
            @WireCodable
            enum Action { case add(Int), add(by: Int) }
            """,
            told(
                2, 6,
                "the wire name \"add\" belongs to more than one case; rename one, or remove the "
                    + "alias"))
    }

    @Test("a field or case inside #if is refused, other members are not")
    func conditional() {
        expectDiagnostics(
            """
            @WireCodable
            struct State {
                #if DEBUG
                var seen: Int
                #endif
                #if DEBUG
                static var shared: Int { 1 }
                func help() {}
                #endif
            }
            """,
            told(3, 5, "a value has the same form in every build; move this out of #if"))
    }
}
