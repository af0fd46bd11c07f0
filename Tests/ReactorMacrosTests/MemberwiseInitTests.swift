import SwiftSyntaxMacrosGenericTestSupport
import Testing

@Suite("The initializer that @MemberwiseInit generates")
struct MemberwiseInitTests {
    @Test("it has the record's access, and the defaults of the fields; an optional one is nil")
    func record() {
        expectExpansion(
            """
            @MemberwiseInit
            package struct Page {
                /// The entries.
                package var entries: [Int] = []
                package var next: UInt64?
                package let path: String
                package var isEnd = false
                package static var last = 0
                package var count: Int { entries.count }
            }
            """,
            """
            package struct Page {
                /// The entries.
                package var entries: [Int] = []
                package var next: UInt64?
                package let path: String
                package var isEnd = false
                package static var last = 0
                package var count: Int { entries.count }

                /// Makes a value of its fields.
                package init(entries: [Int] = [], next: UInt64? = nil, path: String, isEnd: Bool = false) {
                    self.entries = entries
                    self.next = next
                    self.path = path
                    self.isEnd = isEnd
                }
            }
            """)
    }

    @Test("only a struct has fields to set")
    func refused() {
        expectDiagnostics(
            """
            @MemberwiseInit
            enum Page { case last }
            """,
            DiagnosticSpec(
                message: "@MemberwiseInit works on a struct, whose fields it sets", line: 1,
                column: 1))
    }
}
