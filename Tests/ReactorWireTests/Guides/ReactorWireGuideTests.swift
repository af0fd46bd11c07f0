import ReactorWire
import Testing

// The code of the catalog's first page, line for line; another test compares the two.

private enum Glimpse {
    @WireCodable
    enum Action {
        case increment(by: Int)
        case reset
    }

    static func typed() -> [UInt8] {
        Action.increment(by: 5).wireBytes()  // {"increment":{"by":5}}, 16 bytes
    }

    static func untyped(_ schema: WireSchema) throws -> (issues: [SchemaIssue], bytes: [UInt8]) {
        let action = try WireValue(json: #"{"increment":{"by":5}}"#)
        let issues = schema.check(action)  // what the daemon would refuse, with the nearest name
        let bytes = action.wireBytes()  // the same 16 bytes
        return (issues, bytes)
    }
}

@Suite("guide: the wire format's first page")
struct ReactorWireGuideTests {
    @Test("a typed action and the same action in JSON have the same 16 bytes")
    func page() throws {
        let (issues, bytes) = try Glimpse.untyped(Glimpse.Action.wireSchema)
        #expect(bytes == Glimpse.typed())
        #expect(bytes.count == 16)
        #expect(issues.isEmpty)
    }
}
