import ReactorWire
import Testing

@Suite("Outcomes and origins")
struct OutcomeTests {
    @Test("an outcome without default values is decoded")
    func defaults() throws {
        let short: WireValue = ["applied": ["sequence": 5]]
        #expect(try Outcome(wireBytes: short.wireBytes()) == .applied(sequence: 5))
    }

    @Test("a reply is embedded as a value")
    func reply() throws {
        let outcome = Outcome.applied(sequence: 1, reply: WireEmbedded([1, 2] as [Int]))
        let value = try WireValue(wireBytes: outcome.wireBytes())
        #expect(
            value == ["applied": ["sequence": 1, "reply": [1, 2], "ownerEnded": false]])
    }

    @Test("an origin is an array of exactly two elements")
    func origin() throws {
        #expect(try Origin(wireBytes: [0x82, 0x07, 0x01]) == Origin(client: 7, ordinal: 1))
        #expect(try Origin(wireBytes: [0x9f, 0x07, 0x01, 0xff]) == Origin(client: 7, ordinal: 1))
        for hex in ["80", "8107", "83070101", "9f07ff", "820720"] {
            #expect(throws: WireError.self, "\(hex)") { try Origin(wireBytes: [UInt8](hex: hex)) }
        }
    }

    @Test("the integers of an origin are in their shortest form, however large they are")
    func originsOfAnySize() throws {
        let numbers: [UInt64] = [
            0, 1, 23, 24, 255, 256, 65_535, 65_536, 0xffff_ffff, 0x1_0000_0000, .max,
        ]
        for client in numbers {
            for ordinal in numbers {
                var expected = WireWriter()
                expected.array(count: 2)
                expected.unsigned(client)
                expected.unsigned(ordinal)
                let origin = Origin(client: client, ordinal: ordinal)
                #expect(origin.wireBytes() == expected.bytes, "\(client), \(ordinal)")
                #expect(try Origin(wireBytes: expected.bytes) == origin)
            }
        }
    }
}
