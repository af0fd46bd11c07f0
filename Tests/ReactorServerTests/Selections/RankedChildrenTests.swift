import ReactorWire
import Testing

@testable import ReactorServer

@Suite("RankedChildren")
struct RankedChildrenTests {
    private func entry(_ number: Int) -> RankedChildren.Entry {
        var key = SortKey()
        key.append(Int128(number))
        return RankedChildren.Entry(key: key, name: WireKey("\(number)"))
    }

    @Test(
        "children are in order at their positions, as in a sorted array, for many changes",
        arguments: [UInt64](1...5))
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var plain = Set((0..<700).map { _ in Int.random(in: 0..<5_000, using: &random) })
        var ranked = RankedChildren(plain.map(entry))
        for round in 0..<3_000 {
            let number = Int.random(in: 0..<5_000, using: &random)
            // Grows, then shrinks to nothing.
            let isRemoval = round < 1_500 ? plain.contains(number) : !plain.isEmpty
            let old = isRemoval && !plain.contains(number) ? plain.min() : nil
            let chosen = old ?? number
            let position = plain.count { $0 < chosen }
            if isRemoval {
                plain.remove(chosen)
                #expect(ranked.remove(entry(chosen).key) == position, "seed \(seed)")
            } else {
                plain.insert(chosen)
                #expect(ranked.insert(entry(chosen)) == position, "seed \(seed)")
                #expect(ranked.position(of: entry(chosen).key) == position, "seed \(seed)")
            }
            #expect(ranked.count == plain.count)
        }
        let sorted = plain.sorted().map(entry)
        #expect(ranked.prefix(.max) == sorted.map(\.name), "seed \(seed)")
        #expect(sorted.indices.allSatisfy { ranked[$0] == sorted[$0] }, "seed \(seed)")
        #expect(ranked.byteCount == RankedChildren(sorted).byteCount, "seed \(seed)")
    }

    @Test("a child keeps its position exactly if its sort key stays between its neighbours'")
    func change() {
        var ranked = RankedChildren([10, 20, 30].map(entry))
        let changes = [(20, 29), (29, 31), (29, 9), (10, -1), (30, 99)]
        let areKept = changes.map { ranked.change(entry($0.0).key, to: entry($0.1).key) }
        #expect(areKept == [true, false, false, true, true])
        #expect(ranked.prefix(2) == ["10", "20"] && ranked.count == 3)
        #expect(ranked[0].key == entry(-1).key && ranked[2].key == entry(99).key)
    }
}
