import ReactorWire
import Testing

@Suite("Types for map keys")
struct WireMapKeyTests {
    private struct JobID: RawRepresentable, Hashable, WireMapKey {
        var rawValue: Int
    }

    private enum Mood: String, WireMapKey {
        case calm
        case busy
    }

    @Test("keys of a dictionary are text with one form each")
    func forms() throws {
        #expect([JobID(rawValue: 7): true].wireBytes().hex == "a16137f5")
        #expect(
            [UInt64.max: 0].wireBytes().hex == "a1743138343436373434303733373039353531363135" + "00"
        )
        #expect([Mood.calm: 0].wireBytes().hex == "a16463616c6d00")
        #expect(
            try [JobID: Bool](wireBytes: [UInt8](hex: "a16137f5")) == [JobID(rawValue: 7): true])
        #expect(try [Int8: Bool](wireBytes: [UInt8](hex: "a1642d313238f5")) == [-128: true])
    }

    @Test("text that is not a canonical key is refused with the expected form")
    func refused() {
        for hex in ["a1623037f5", "a1622b37f5", "a1622d30f5", "a1613af5", "a160f5", "a107f5"] {
            #expect(throws: WireError.self, "\(hex)") {
                try [Int: Bool](wireBytes: [UInt8](hex: hex))
            }
        }
        let range = #expect(throws: WireError.self) {
            try [UInt8: Int](wireBytes: ["256": 0].wireBytes())
        }
        #expect(
            range?.condition
                == .mismatch(expected: "an integer from 0 to 255", got: "the key \"256\""))
        let mood = #expect(throws: WireError.self) {
            try [Mood: Int](wireBytes: ["sad": 0].wireBytes())
        }
        #expect(
            mood?.condition == .mismatch(expected: "text that is a Mood", got: "the key \"sad\""))
    }
}
