import ReactorCore
import StockReactors
import Testing

@Suite("SlidingArray")
struct SlidingArrayTests {
    @Test("a sliding array equals an array after random changes at both ends")
    func model() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var model: [Int] = []
        var sliding = SlidingArray<Int>()
        for step in 0..<5_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                model.append(step)
                sliding.append(step)
            case 5...7:
                let number = Int.random(in: 0...4, using: &random)
                model.removeFirst(min(number, model.count))
                sliding.removeFirst(number)
            case 8:
                let new = Array(0..<Int.random(in: 0...6, using: &random))
                model.insert(contentsOf: new, at: 0)
                sliding.prepend(new)
            default:
                let isRare = Int.random(in: 0..<50, using: &random) == 0
                if isRare {
                    model.removeAll()
                    sliding.removeAll()
                }
            }
            guard Array(sliding) == model else {
                Issue.record("step \(step), seed \(seed)")
                return
            }
        }
        #expect(sliding == SlidingArray(model), "seed \(seed)")
    }

    @Test("removing a negative number removes none, removing too many removes all")
    func bounds() {
        var sliding: SlidingArray<Int> = [1, 2]
        sliding.removeFirst(-5)
        #expect(Array(sliding) == [1, 2])
        sliding.removeFirst(5)
        #expect(sliding.isEmpty)
    }

    @Test("a sliding array is encoded as an array, and a path leads to an index")
    func coding() throws {
        var sliding: SlidingArray<Int> = [9, 1, 2]
        sliding.removeFirst()
        #expect(sliding.wireBytes() == [1, 2].wireBytes())
        #expect(try SlidingArray<Int>(wireBytes: sliding.wireBytes()) == sliding)
        var writer = WireWriter()
        #expect(sliding.encode(at: ["1"], into: &writer) == .found)
        #expect(writer.bytes == [2])
        #expect(sliding.encode(at: ["2"], into: &writer) == .absent)
        #expect(sliding.encode(at: ["01"], into: &writer) == .impossible)
        #expect(sliding.encode(at: ["-1"], into: &writer) == .impossible)
    }
}
