import ReactorWire
import Testing

@Suite("Values of any shape")
struct WireValueTests {
    @Test("values convert to and from types through their bytes")
    func conversions() throws {
        let value = try WireValue(encoding: ["a": [1, 2], "b": nil] as [String: [Int]?])
        #expect(value == ["a": [1, 2], "b": .null])
        #expect(try value.decoded(as: [String: [Int]?].self) == ["a": [1, 2], "b": nil])
        #expect(value["a"]?[1]?.intValue == 2)
        #expect(value["a"]?[2] == nil)
        #expect(value["c"] == nil)
        #expect((["x": "y"] as WireValue)["x"]?.textValue == "y")
        let error = #expect(throws: WireError.self) {
            try (["a": ["x"]] as WireValue).decoded(as: [String: [Int]].self)
        }
        #expect(error?.path == ["a", "0"])
        #expect(error?.description == "a.0 at byte 4: expected an integer, got text")
    }

    @Test("W16: equal values have equal hashes, floats with other bits are not equal")
    func hashing() {
        for start in Seed.starts(500) {
            var random = RandomValue(start)
            let value = random.value(depth: 4)
            let copy = try? WireValue(wireBytes: value.wireBytes())
            #expect(copy == value && copy?.hashValue == value.hashValue, "seed \(start)")
        }
        let values: Set<WireValue> = [
            1, 1.0, "1", [1], ["1": 1], true, .null, 0.0, .float(-0.0), .bytes([1]),
        ]
        #expect(values.count == 10)
        #expect(Set([WireValue.float(.nan), .float(.nan)]).count == 1)
    }
}
