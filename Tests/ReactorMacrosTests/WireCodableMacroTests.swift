import SwiftSyntaxMacroExpansion
import Testing

@Suite("The code that @WireCodable adds")
struct WireCodableMacroTests {
    @Test("a type with a raw value gets only the conformance")
    func rawValue() {
        expectExpansion(
            """
            @WireCodable
            enum Mood: String {
                case calm, busy
            }
            """,
            """
            enum Mood: String {
                case calm, busy
            }

            extension Mood: WireCodable {
            }
            """)
    }

    @Test("a conformance that the author wrote is not repeated, but the initializer is added")
    func conforming() {
        let source = """
            @WireCodable
            struct Empty: WireCodable {}
            """
        let specs = [
            "WireCodable": MacroSpec(type: WireCodableMacro.self, conformances: [])
        ]
        #expect(expansion(of: source, macroSpecs: specs).contains("extension Empty {"))
    }
}
