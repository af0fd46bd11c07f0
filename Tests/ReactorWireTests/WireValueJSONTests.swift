import ReactorWire
import Testing

@Suite("JSON")
struct WireValueJSONTests {
    @Test("every value survives a round trip through JSON, on one line, pretty and in ASCII")
    func roundTrip() throws {
        for start in Seed.starts(5_000) {
            var random = RandomValue(start)
            let value = random.value(depth: 5)
            #expect(try WireValue(json: value.json()) == value, "seed \(start)")
            #expect(try WireValue(json: value.json(pretty: true)) == value, "seed \(start)")
            let ascii = value.json(ascii: true)
            #expect(ascii.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }, "seed \(start)")
            #expect(try WireValue(json: ascii) == value, "seed \(start)")
        }
    }

    @Test("doubles survive a round trip exactly")
    func doubles() throws {
        for start in Seed.starts(5_000) {
            var seed = Seed(start)
            let value = WireValue.float(Double(bitPattern: seed.next()))
            #expect(try WireValue(json: value.json()) == value, "seed \(start)")
        }
    }

    @Test("random texts never trap, and accepted ones survive a round trip")
    func garbage() throws {
        let pieces = [
            "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "d83d", "\"a\"", "\"$map\"",
            "\"$bytes\"",
            "1", "-", ".", "e", "0", "true", "null", " ", "\n", "{\"$map\":", "\"AA==\"", "水",
        ]
        var readCount = 0
        for start in Seed.starts(50_000) {
            var seed = Seed(start)
            let json = (0..<seed.below(9)).map { _ in pieces[seed.below(pieces.count)] }.joined()
            guard let value = try? WireValue(json: json) else { continue }
            readCount += 1
            #expect(try WireValue(json: value.json()) == value, "seed \(start)")
        }
        #expect(Seed.isGiven || readCount > 500)
    }
}
