import Testing

@Suite("The fields that @WireCodable refuses")
struct WireFieldTests {
    @Test("tuples and functions are refused anywhere in a field's type")
    func uncodableTypes() {
        expectDiagnostics(
            """
            @WireCodable
            struct State {
                var pair: (Int, Int)
                var list: [(x: Int, y: Int)?]
                var call: () -> Void
                var parenthesised: (Int)?
            }
            """,
            told(
                3, 15,
                "\"pair\" is a tuple, which has no names on the wire; declare a struct with "
                    + "@WireCodable instead"),
            told(
                4, 16,
                "\"list\" is a tuple, which has no names on the wire; declare a struct with "
                    + "@WireCodable instead"),
            told(
                5, 15,
                "\"call\" is a function, which cannot be coded; keep it outside, or make it a "
                    + "computed property"))
    }

    @Test("a type without a fixed form is refused; WireValue allows any value")
    func untypedFields() {
        let message =
            "is of any type, which a reader of the bytes cannot know; declare an enum of what it "
            + "may be, or a WireValue"
        expectFix(
            """
            @WireCodable
            struct State {
                var notes: [String: Any]
            }
            """,
            told(3, 25, "\"notes\" \(message)", fix: "write 'WireValue'"),
            fixed: """
                @WireCodable
                struct State {
                    var notes: [String: WireValue]
                }
                """)
        expectDiagnostics(
            """
            @WireCodable
            enum Action { case draw((any Shape)?), hold(owner: AnyObject) }
            """,
            told(2, 26, "\"0\" of case \"draw\" \(message)"),
            told(
                2, 52,
                "\"owner\" of case \"hold\" is an object, which stays in its process; declare a "
                    + "struct with @WireCodable instead"))
    }

    @Test("a tuple in a payload is refused with the name of its case")
    func uncodablePayload() {
        expectDiagnostics(
            """
            @WireCodable
            enum Action { case move(to: (Int, Int)) }
            """,
            told(
                2, 29,
                "\"to\" of case \"move\" is a tuple, which has no names on the wire; declare a "
                    + "struct with @WireCodable instead"))
    }
}
