import ReactorServer
import Testing

@testable import ReactorDaemon

@Suite("A table of links")
struct LinkTableTests {
    private func id(_ number: UInt64) -> ConnectionID { ConnectionID(number) }

    @Test("a link is found at its number, and not at another")
    func finds() {
        var table = LinkTable<String>()
        #expect(table.isEmpty && table[id(7)] == nil)
        table.insert("seven", at: id(7))
        table.insert("zero", at: id(0))
        #expect(table[id(7)] == "seven" && table[id(0)] == "zero" && table[id(8)] == nil)
        table.insert("other", at: id(7))
        #expect(table.count == 2 && table[id(7)] == "other")
        table.remove(at: id(7))
        table.remove(at: id(7))
        #expect(table[id(7)] == nil && table[id(0)] == "zero" && table.all == ["zero"])
    }

    @Test(
        "a table of links equals a dictionary after any insertions and removals",
        arguments: [
            // Numbers that follow each other, numbers at one distance, and numbers that share a
            // slot: the table's factor makes 1 of the last.
            1, 1 << 20, 1 << 32, 0xf1de_83e1_9937_733d,
        ] as [UInt64])
    func holdsWhatADictionaryHolds(distance: UInt64) {
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = seed
            var table = LinkTable<UInt64>()
            var model: [UInt64: UInt64] = [:]
            for step in 0..<400 as Range<UInt64> {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let number = ((random >> 33) % 60) &* distance
                if random >> 40 & 3 == 0 {
                    table.remove(at: id(number))
                    model[number] = nil
                } else {
                    table.insert(step, at: id(number))
                    model[number] = step
                }
                let isSame = model.allSatisfy { table[id($0.key)] == $0.value }
                #expect(isSame && table.count == model.count, "seed \(seed), step \(step)")
            }
            #expect(table.all.sorted() == model.values.sorted(), "seed \(seed)")
        }
    }

    @Test("a removed link is released")
    func letsGo() {
        final class Token {}
        var table = LinkTable<Token>()
        weak var token: Token?
        do {
            let made = Token()
            token = made
            table.insert(made, at: id(1))
        }
        #expect(token != nil)
        table.remove(at: id(1))
        #expect(token == nil)
    }
}
