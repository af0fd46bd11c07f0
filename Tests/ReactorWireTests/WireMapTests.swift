import ReactorWire
import Testing

@Suite("Maps")
struct WireMapTests {
    @Test("a map equals a dictionary keyed by bytes, after random changes")
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

    @Test("a large map equals a sorted list, after random changes and copies")
    func many() throws {
        for start in Seed.starts(4) {
            var seed = RandomValue(start).seed
            var model = (0..<700).map { WireMap.Pair(key: WireKey("k\($0 * 7)"), value: 0) }
                .sorted { $0.key < $1.key }
            var map = try WireMap(model.shuffled(using: &seed))
            for round in 0..<4_000 {
                let key = WireKey("k\(Int.random(in: 0..<6_000, using: &seed))")
                let value: WireValue? =
                    Int.random(in: 0..<3, using: &seed) == 0 ? nil : .text("\(round)")
                let copy = map
                let before = map.count
                map[key] = value
                let index = model.firstIndex { !($0.key < key) } ?? model.count
                let isThere = index < model.count && model[index].key == key
                if isThere { model.remove(at: index) }
                if let value { model.insert(WireMap.Pair(key: key, value: value), at: index) }
                #expect(copy.count == before && map.count == model.count)
                #expect(map[key] == value, "seed \(start)")
            }
            #expect(map.pairs == model && Array(map) == model, "seed \(start)")
            #expect(map.indices.allSatisfy { map[$0] == model[$0] }, "seed \(start)")
            let rebuilt = try WireMap(model)
            #expect(rebuilt == map && rebuilt.hashValue == map.hashValue, "seed \(start)")
            #expect(rebuilt.wireBytes() == map.wireBytes(), "seed \(start)")
            for pair in model { map[pair.key] = nil }
            #expect(map.isEmpty && map == WireMap() && map.first == nil, "seed \(start)")
        }
    }

    @Test("W17: a map cannot be created from pairs with the same key")
    func duplicates() {
        #expect(throws: WireMap.DuplicateKey(key: "a")) {
            try WireMap([
                WireMap.Pair(key: "a", value: 1), WireMap.Pair(key: "b", value: 2),
                WireMap.Pair(key: "a", value: 3),
            ])
        }
    }
}
