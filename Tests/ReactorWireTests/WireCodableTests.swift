import ReactorWire
import Testing

@Suite("The standard library's types")
struct WireCodableTests {
    /// Whether `value` comes back equal from its bytes, which are `hex`.
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

    @Test("an integer that the type cannot hold is refused with the type's bounds")
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

    @Test("an array of small integers is read as bytes")
    func smallIntegers() throws {
        #expect(try [UInt8](wireBytes: [0x82, 0x01, 0x18, 0xff]) == [1, 255])
        #expect(throws: WireError.self) { try [UInt8](wireBytes: [0x81, 0x19, 0x01, 0x00]) }
    }
}

extension [UInt8] {
    /// The bytes that `hex` spells, two digits each.
    init(hex: String) {
        var nibbles = hex.compactMap(\.hexDigitValue)[...]
        self = []
        while let high = nibbles.popFirst(), let low = nibbles.popFirst() {
            append(UInt8(high << 4 | low))
        }
    }

    /// Two digits a byte, lower case.
    var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
