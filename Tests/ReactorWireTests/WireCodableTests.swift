import ReactorWire
import Testing

@Suite("The standard library's types")
struct WireCodableTests {
    /// Checks that `value` encodes to `hex` and decodes from it.
    private func check<Value: WireCodable & Equatable>(
        _ value: Value, _ hex: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(value.wireBytes().hex == hex, sourceLocation: sourceLocation)
        #expect(try Value(wireBytes: [UInt8](hex: hex)) == value, sourceLocation: sourceLocation)
    }

    @Test("integers of every width keep their bounds")
    func integers() throws {
        try check(Int8.min, "387f")
        try check(Int8.max, "187f")
        try check(UInt8.max, "18ff")
        try check(Int16.min, "397fff")
        try check(UInt16.max, "19ffff")
        try check(Int32.min, "3a7fffffff")
        try check(UInt32.max, "1affffffff")
        try check(Int64.min, "3b7fffffffffffffff")
        try check(Int64.max, "1b7fffffffffffffff")
        try check(UInt64.max, "1bffffffffffffffff")
        try check(Int.min, "3b7fffffffffffffff")
        try check(UInt.max, "1bffffffffffffffff")
    }

    @Test("an integer beyond the type is refused with the type's bounds")
    func integerRange() {
        #expect(throws: WireError(.outOfRange(expected: "an integer from -128 to 127"), at: 0)) {
            try Int8(wireBytes: [0x18, 0x80])
        }
        #expect(throws: WireError(.outOfRange(expected: "an integer from 0 to 255"), at: 0)) {
            try UInt8(wireBytes: [0x20])
        }
        #expect(throws: WireError.self) { try Int64(wireBytes: [UInt8](hex: "3bffffffffffffffff")) }
        #expect(throws: WireError.self) { try Int64(wireBytes: [UInt8](hex: "1b8000000000000000")) }
    }

    @Test("containers and optionals have one form each")
    func containers() throws {
        try check([1, 2, 3], "83010203")
        try check([UInt8]([1, 2, 3]), "43010203")
        try check(Int?.none, "f6")
        try check(Int?.some(7), "07")
        try check(["b": 1, "aa": 2, "a": 3], "a361610361620162616102")
        try check([WireKey("x"): true], "a16178f5")
        try check([-1: "a", 10: "b"], "a2622d3161616231306162")
        try check(Set([3, 1, 2]), "83010203")
        try check([[String]](), "80")
        try check(Duration.seconds(5), "05")
        try check(Duration.milliseconds(-1500), "82203b06f05b59d3b1ffff")
    }

    @Test("nil is encoded as null, and a missing optional decodes to nil")
    func absence() throws {
        #expect(Int.wireAbsentValue == nil)
        #expect(Int?.wireAbsentValue == .some(nil))
        #expect(try Int?(wireBytes: [0xf7]) == nil)
        #expect(throws: WireError.self) { try Int(wireBytes: [0xf6]) }
        #expect(throws: WireError.self) { try Never(wireBytes: [0xf6]) }
        #expect(Int??.some(nil).wireBytes() == [0xf6])
    }

    @Test("dictionaries and sets have one form, whatever the order of insertion")
    func order() throws {
        for start in Seed.starts(100) {
            var random = RandomValue(start)
            let pairs = (0..<random.seed.below(40)).map { _ in (WireKey(random.text()), 1) }
            let dictionary = Dictionary(pairs) { first, _ in first }
            let again = Dictionary(pairs.shuffled(using: &random.seed)) { first, _ in first }
            #expect(dictionary.wireBytes() == again.wireBytes(), "seed \(start)")
            let map = try WireValue(wireBytes: dictionary.wireBytes())
            #expect(map.wireBytes() == dictionary.wireBytes(), "seed \(start)")
            let set = Set(pairs.map(\.0))
            #expect(set.wireBytes() == Set(again.keys).wireBytes(), "seed \(start)")
            #expect(try Set(wireBytes: set.wireBytes()) == set, "seed \(start)")
        }
    }

    @Test("durations are exact; floats decode to the nearest attosecond, with both signs alike")
    func durations() throws {
        for start in Seed.starts(500) {
            var seed = Seed(start)
            let duration = Duration(
                secondsComponent: Int64(truncatingIfNeeded: seed.next()) >> Int64(seed.below(64)),
                attosecondsComponent: seed.oneIn(3) ? 0 : Int64(seed.next() % (1 << 60)))
            #expect(try Duration(wireBytes: duration.wireBytes()) == duration, "seed \(start)")
        }
        #expect(try Duration(wireBytes: 1.5.wireBytes()) == .milliseconds(1500))
        #expect(try Duration(wireBytes: (-0.25).wireBytes()) == .milliseconds(-250))
        #expect(try Duration(wireBytes: (-0x1p63).wireBytes()) == .seconds(Int64.min))
        let refused = [
            Double.nan.wireBytes(), Double.infinity.wireBytes(), 0x1p63.wireBytes(),
            "5".wireBytes(),
            [1].wireBytes(), [1, 2, 3].wireBytes(), [1, -1].wireBytes(), [-1, 1].wireBytes(),
            [0, 1_000_000_000_000_000_000].wireBytes(), [0xf6],
        ]
        for bytes in refused {
            #expect(throws: WireError.self, "\(bytes.hex)") { try Duration(wireBytes: bytes) }
        }
    }

    @Test("an unknown raw value is refused with its type's name and the known ones")
    func rawValues() throws {
        try check(Mood.busy, "6462757379")
        try check([Mood.calm], "816463616c6d")
        try check(JobID(rawValue: 7), "07")
        #expect(throws: WireError(.unknownCase("sad", known: ["calm", "busy"]), at: 0)) {
            try Mood(wireBytes: "sad".wireBytes())
        }
        #expect(throws: WireError(.refused("\"3\" is no Even"), at: 0)) { try Even(wireBytes: [3]) }
    }

    private enum Mood: String, WireCodable, CaseIterable {
        case calm
        case busy
    }

    private struct JobID: RawRepresentable, Hashable, WireMapKey, WireCodable {
        var rawValue: Int
    }

    private struct Even: RawRepresentable, WireCodable {
        var rawValue: Int
        init?(rawValue: Int) {
            guard rawValue % 2 == 0 else { return nil }
            self.rawValue = rawValue
        }
    }

    @Test("an array of small integers decodes as bytes")
    func smallIntegers() throws {
        #expect(try [UInt8](wireBytes: [0x82, 0x01, 0x18, 0xff]) == [1, 255])
        #expect(throws: WireError.self) { try [UInt8](wireBytes: [0x81, 0x19, 0x01, 0x00]) }
    }
}

extension [UInt8] {
    /// Decodes hexadecimal text, two digits a byte.
    init(hex: String) {
        var nibbles = hex.compactMap(\.hexDigitValue)[...]
        self = []
        while let high = nibbles.popFirst(), let low = nibbles.popFirst() {
            append(UInt8(high << 4 | low))
        }
    }

    /// The bytes in lower-case hexadecimal, two digits each.
    var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
