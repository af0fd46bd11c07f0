import ReactorWire
import Testing

@Suite("Issues")
struct SchemaIssueTests {
    @Test("W116: names from a value are printed with control characters escaped")
    func printing() throws {
        let schema = WireSchema.record(WireSchema.Record(name: "R", fields: []))
        let issue = try #require(schema.check(["a\u{1b}[2J.": 1]).first)
        #expect(
            issue.description
                == #""a\u001b[2J.": expected no fields, got the unknown field "a\u001b[2J.""#)
    }

    @Test("an exact check misses each field that the value lacks, even one with a default")
    func exact() {
        let inner = WireSchema.record(
            WireSchema.Record(
                name: "I",
                fields: [WireSchema.Field(name: "b", schema: .text, isOptional: true)]))
        let schema = WireSchema.record(
            WireSchema.Record(
                name: "R",
                fields: [
                    WireSchema.Field(name: "a", schema: .array(inner)),
                    WireSchema.Field(name: "c", schema: .optional(.bool), isOptional: true),
                ]))
        let value: WireValue = ["a": [["b": "x"], [:]]]
        #expect(schema.check(value).isEmpty)
        #expect(schema.checkExactly(value).map(\.path) == [["a", "1", "b"], ["c"]])
        let whole: WireValue = ["a": [["b": "x"]], "c": .null]
        #expect(schema.checkExactly(whole).isEmpty)
        #expect(schema.checkExactly(["a": [], "c": true, "d": 1]).map(\.path) == [["d"]])
    }

    @Test("an issue names place, expected and actual value, and the nearest name, if known")
    func forms() {
        let bare = SchemaIssue(path: [], expected: "a bool", got: "text")
        #expect(bare.description == "value: expected a bool, got text")
        let full = SchemaIssue(path: ["a", "", "b.c"], expected: "x", got: "y", nearest: "z")
        #expect(
            full.description
                == #"a.""."b.c": expected x, got y; did you mean "z"?"#.filter { $0 != "\\" })
    }
}
