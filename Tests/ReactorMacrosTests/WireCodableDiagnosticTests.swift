import Testing

@Suite("What @WireCodable refuses, and what it tells the author to do")
struct WireCodableDiagnosticTests {
    @Test("a class, an actor and a protocol have no form on the wire")
    func objects() {
        for introducer in ["class", "actor", "protocol"] {
            expectDiagnostics(
                """
                @WireCodable
                \(introducer) Thing {}
                """,
                told(
                    1, 1,
                    "@WireCodable works on a struct or an enum: a value has one form on the wire, "
                        + "an object or a protocol has none"))
        }
    }

    @Test("a property whose type is not written and not a literal's is asked for its type")
    func typeMissing() {
        expectDiagnostics(
            """
            @WireCodable
            struct State {
                var count = 3, rate = -1.5, name = "", isOpen = true
                var place = Place()
            }
            """,
            told(
                4, 9,
                "the type of \"place\" is not visible to @WireCodable; write it: place: Type"))
    }

    @Test("tuples and functions are refused wherever in the type they stand")
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

    @Test("a wrapped property is refused, because its storage is the wrapper's")
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

    @Test("a payload with and without labels is refused")
    func mixedLabels() {
        expectDiagnostics(
            """
            @WireCodable
            enum Action { case move(Int, by: Int) }
            """,
            told(
                2, 20,
                "case \"move\" labels some of its values and not others; label all of them (a map "
                    + "on the wire) or none (an array)"))
    }

    @Test("a name or an alias that stands for two things is refused")
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

    @Test("an alias that cannot be read when compiling, or stands elsewhere, is refused")
    func aliases() {
        expectDiagnostics(
            #"""
            @WireCodable
            struct State { @WireAlias("a\(1)") var count: Int }
            """#,
            told(2, 27, "an alias is read when compiling; write it as a plain string literal"))
        expectDiagnostics(
            """
            @WireCodable
            enum Action { @WireAlias("x") case open, close }
            """,
            told(
                2, 15,
                "@WireAlias would rename several at once; declare each on a line of its own"))
        expectDiagnostics(
            """
            @WireAlias("x") struct State {}
            """,
            told(
                1, 1,
                "@WireAlias renames a stored property or an enum case; put it on one of these"))
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

    @Test("an enum without cases is refused")
    func noCases() {
        expectDiagnostics(
            """
            @WireCodable
            enum Never {}
            """,
            told(
                2, 6,
                "an enum without cases has no value to code; give it a case, or leave "
                    + "@WireCodable out"))
    }

    @Test("a private nested type is refused, because its conformance could not name it")
    func nestedPrivate() {
        let message =
            "the conformance stands at file scope, where a private nested type cannot be named; "
            + "make it fileprivate"
        expectDiagnostics(
            """
            enum Shop {
                @WireCodable
                private struct State {}
            }
            """,
            told(3, 5, message))
        expectDiagnostics(
            """
            enum Shop {
                private enum Desk {
                    @WireCodable
                    struct State {}
                }
            }
            """,
            told(4, 9, message))
        expectDiagnostics(
            """
            @WireCodable
            private struct State {}
            """)
    }
}
