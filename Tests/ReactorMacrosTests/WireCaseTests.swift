import Testing

@Suite("The cases that @WireCodable refuses")
struct WireCaseTests {
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

    @Test("an enum without cases is codable: decoding refuses every value")
    func noCases() {
        expectExpansion(
            """
            @WireCodable
            enum Action {}
            """,
            """
            enum Action {

                func encode(into writer: inout WireWriter) {
                    switch self {
                    }
                }

                static func decode(
                    _ bytes: Swift.Span<Swift.UInt8>, _ cursor: inout WireCursor
                ) throws(WireError) -> Self {
                    throw WireError(.refused("Action has no cases, so no value is possible"), at: cursor.offset)
                }

                static var wireSchema: WireSchema {
                    WireSchema.choice(Self.self, name: "Action") {
                        []
                    }
                }
            }

            extension Action: WireCodable {
            }
            """)
    }
}
