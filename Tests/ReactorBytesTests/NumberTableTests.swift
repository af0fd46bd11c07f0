import ReactorBytes
import Testing

@Suite("A table by numbers")
struct NumberTableTests {
    @Test("a value is found at its number, and not at another")
    func finds() {
        var table = NumberTable<String>()
        #expect(table.isEmpty && table[7] == nil)
        table.insert("seven", at: 7)
        table.insert("zero", at: 0)
        #expect(table[7] == "seven" && table[0] == "zero" && table[8] == nil)
        #expect(table.insert("other", at: 7) == "seven")
        #expect(table.count == 2 && table[7] == "other")
        #expect(table.remove(at: 7) == "other")
        #expect(table.remove(at: 7) == nil)
        #expect(table[7] == nil && table[0] == "zero" && table.values == ["zero"])
    }

    @Test(
        "a table equals a dictionary after any insertions and removals",
        arguments: [
            // Numbers that follow each other, numbers at one distance, and numbers that share a
            // slot: the table's factor makes 1 of the last.
            1, 1 << 20, 1 << 32, 0xf1de_83e1_9937_733d,
        ] as [UInt64])
    func holdsWhatADictionaryHolds(distance: UInt64) {
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = seed
            var table = NumberTable<UInt64>()
            var model: [UInt64: UInt64] = [:]
            for step in 0..<400 as Range<UInt64> {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let number = ((random >> 33) % 60) &* distance
                if random >> 40 & 3 == 0 {
                    table.remove(at: number)
                    model[number] = nil
                } else {
                    table.insert(step, at: number)
                    model[number] = step
                }
                let isSame = model.allSatisfy { table[$0.key] == $0.value }
                #expect(isSame && table.count == model.count, "seed \(seed), step \(step)")
            }
            #expect(table.values.sorted() == model.values.sorted(), "seed \(seed)")
        }
    }

    @Test("a removed value is released")
    func letsGo() {
        final class Token {}
        var table = NumberTable<Token>()
        weak var token: Token?
        do {
            let made = Token()
            token = made
            table.insert(made, at: 1)
        }
        #expect(token != nil)
        table.remove(at: 1)
        #expect(token == nil)
    }
}
