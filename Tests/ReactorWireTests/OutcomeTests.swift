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
        for hex in ["80", "8107", "83070101", "9f07ff", "820720"] {
            #expect(throws: WireError.self, "\(hex)") { try Origin(wireBytes: [UInt8](hex: hex)) }
        }
    }
}
