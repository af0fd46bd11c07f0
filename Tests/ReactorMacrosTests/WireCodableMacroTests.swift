import SwiftSyntaxMacroExpansion
import Testing

@testable import ReactorMacros

@Suite("What @WireCodable adds to a type")
struct WireCodableMacroTests {
    @Test("a type with a raw value gets the conformance alone")
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

    @Test("a conformance that the author wrote is not repeated, the initialiser still added")
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
