import ReactorWire
import Testing

@Suite("Maps")
struct WireMapTests {
    @Test("a map behaves as a dictionary by bytes does, over random changes")
    func changes() {
        for start in Seed.starts(200) {
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
}
