import ReactorWire
import Testing

@Suite("Maps, keys and integers of any shape")
struct WireMapTests {
    @Test("a map behaves as a dictionary by bytes does, over random changes")
    func changes() {
        for start in UInt64(1)...200 {
            var random = RandomValue(start)
            var map = WireMap()
            var model: [[UInt8]: WireValue] = [:]
            for _ in 0..<60 {
                let key = WireKey(random.text())
                let value: WireValue? = random.seed.oneIn(3) ? nil : .integer(random.integer())
                map[key] = value
                model[Array(key.text.utf8)] = value
                #expect(map[key] == value, "seed \(start)")
            }
            #expect(map.count == model.count, "seed \(start)")
            for pair in map {
                #expect(model[Array(pair.key.text.utf8)] == pair.value, "seed \(start)")
            }
            let encodedKeys = map.keys.map { $0.wireBytes() }
            #expect(
                encodedKeys == encodedKeys.sorted { $0.lexicographicallyPrecedes($1) },
                "seed \(start)")
            #expect((try? WireMap(map.shuffled(using: &random.seed))) == map, "seed \(start)")
        }
    }

    @Test("W17: a map is not made of pairs with the same key")
    func duplicates() {
        #expect(throws: WireMap.DuplicateKey(key: "a")) {
            try WireMap([
                WireMap.Pair(key: "a", value: 1), WireMap.Pair(key: "b", value: 2),
                WireMap.Pair(key: "a", value: 3),
            ])
        }
    }

    @Test("W15: keys compare, hash and sort by their bytes, whatever their length")
    func keys() {
        let texts = [
            "", "a", "b", "ab", "abcdefg", "abcdefgh", "abcdefgi", "abcdefghi", "abcdefgh\u{e9}",
            "abcdefghe\u{301}", "\u{e9}", "e\u{301}", "\0", "\0\0", "a\0",
            String(repeating: "k", count: 64), String(repeating: "k", count: 65),
            String(repeating: "k", count: 64) + "\u{e9}",
            String(repeating: "k", count: 63) + "e\u{301}",
            "q\u{307}\u{323}", "q\u{323}\u{307}",
        ]
        for left in texts {
            for right in texts {
                let same = Array(left.utf8) == Array(right.utf8)
                let (left, right) = (WireKey(left), WireKey(right))
                #expect((left == right) == same)
                #expect(
                    (left < right) == left.wireBytes().lexicographicallyPrecedes(right.wireBytes()))
                if same { #expect(left.hashValue == right.hashValue) }
            }
        }
        // because bytes that differ anywhere must differ in the hash, save for a chance of 2^-64
        #expect(Set(texts.map { WireKey($0).hashValue }).count == texts.count)
        #expect(Set(texts.map { WireKey($0) }).count == texts.count)
    }

    @Test("integers hold 65 bits, compare as numbers and print as such")
    func integers() {
        let edges: [Int128] = [
            -18_446_744_073_709_551_616, -18_446_744_073_709_551_615, -9_223_372_036_854_775_809,
            -9_223_372_036_854_775_808, -1, 0, 1, 9_223_372_036_854_775_807,
            18_446_744_073_709_551_615,
        ]
        for left in edges {
            let integer = WireInteger(exactly: left)
            #expect(integer?.value == left)
            #expect(integer?.description == left.description)
            #expect(integer.flatMap { Int64(exactly: $0) } == Int64(exactly: left))
            for right in edges {
                #expect(
                    (WireInteger(integerLiteral: left) < WireInteger(integerLiteral: right))
                        == (left < right))
            }
        }
        #expect(WireInteger(exactly: 18_446_744_073_709_551_616 as Int128) == nil)
        #expect(WireInteger(exactly: -18_446_744_073_709_551_617 as Int128) == nil)
        #expect(WireInteger(exactly: Int8.min)?.description == "-128")
    }

    @Test("values convert to and from types by their bytes")
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

    @Test("W16: equal values hash alike, other bits of a float do not compare equal")
    func hashing() {
        for start in UInt64(1)...500 {
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
