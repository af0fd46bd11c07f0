import Testing

@Suite("The types that @WireCodable refuses")
struct WireTypeTests {
    @Test("a class, an actor and a protocol have no wire format")
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

    @Test("a private nested type is refused, because its conformance could not name it")
    func nestedPrivate() {
        let message =
            "the conformance is at file scope, where a private nested type is not visible; "
            + "make it fileprivate"
        expectFix(
            """
            enum Shop {
                @WireCodable
                private struct State {}
            }
            """,
            told(3, 5, message, fix: "declare it fileprivate"),
            fixed: """
                enum Shop {
                    @WireCodable
                    fileprivate struct State {}
                }
                """)
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
