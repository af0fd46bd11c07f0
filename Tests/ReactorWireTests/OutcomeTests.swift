import ReactorWire
import Testing

@Suite("Outcomes and origins")
struct OutcomeTests {
    @Test("an outcome of a peer that sends no defaults is read")
    func defaults() throws {
        let short: WireValue = ["applied": ["sequence": 5]]
        #expect(try Outcome(wireBytes: short.wireBytes()) == .applied(sequence: 5))
    }

    @Test("a reply is embedded as the value that it is")
    func reply() throws {
        let outcome = Outcome.applied(sequence: 1, reply: WireEmbedded([1, 2] as [Int]))
        let value = try WireValue(wireBytes: outcome.wireBytes())
        #expect(
            value == ["applied": ["sequence": 1, "reply": [1, 2], "ownerEnded": false]])
    }

    @Test("an origin is an array of exactly two")
    func origin() throws {
        #expect(try Origin(wireBytes: [0x82, 0x07, 0x01]) == Origin(client: 7, ordinal: 1))
        #expect(try Origin(wireBytes: [0x9f, 0x07, 0x01, 0xff]) == Origin(client: 7, ordinal: 1))
        for bytes: [UInt8] in [[0x80], [0x81, 7], [0x83, 7, 1, 1], [0x9f, 7, 0xff], [0x82, 7, 0x20]] {
            #expect(throws: WireError.self, "\(bytes.hex)") { try Origin(wireBytes: bytes) }
        }
    }
}
