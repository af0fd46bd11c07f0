import ReactorWire
import Testing

@testable import ReactorServer

@Suite("SortKey")
struct SortKeyTests {
    private func key(_ value: WireValue) -> SortKey {
        var key = SortKey()
        key.append(value)
        return key
    }

    @Test("bytes compare as their values: by kind, then in the kind's order")
    func order() {
        let values: [WireValue] = [
            .null, false, true, .float(-.infinity), -18_446_744_073_709_551_616, -5.5, -5, -0.5, 0,
            0.25, 1, 1.5, 2, 4_503_599_627_370_496.5, 9_007_199_254_740_992,
            9_007_199_254_740_993, 9_007_199_254_740_994, 18_446_744_073_709_549_568,
            18_446_744_073_709_551_614, 18_446_744_073_709_551_615,
            .float(18_446_744_073_709_551_616), .float(.infinity), .float(.nan), "", "\0", "\0a",
            "a", "a\0", "ab", "b", "é", .bytes([1]), [1], [:],
        ]
        for (left, right) in zip(values, values.dropFirst()) {
            #expect(key(left) < key(right) && !(key(right) < key(left)), "\(left) < \(right)")
            var reversed = [key(left), key(right)]
            for index in reversed.indices { reversed[index].reverse(from: 0) }
            #expect(reversed[1] < reversed[0], "\(left) > \(right)")
        }
    }

    @Test("equal numbers have equal bytes, as integers and as floats")
    func equalNumbers() {
        for (integer, float) in [(0, -0.0), (3, 3.0), (-7, -7.0), (1 << 60, 0x1p60)] {
            #expect(key(.integer(.init(exactly: integer) ?? 0)) == key(.float(float)))
        }
        #expect(key(.float(.nan)) == key(.float(-.nan)))
    }

    @Test("durations compare by their lengths, below zero too")
    func durations() {
        let all: [Duration] = [
            .seconds(-2), .milliseconds(-1_500), .seconds(-1), .nanoseconds(-1), .zero,
            .nanoseconds(1), .seconds(1), .milliseconds(1_001),
        ]
        let keys = all.map { duration in
            var key = SortKey()
            key.append(duration)
            return key
        }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("only present values of one kind are comparable, and a long text is cut")
    func kinds() {
        #expect(key(1).isComparable(to: key(2.5)) && !key(1).isComparable(to: key("1")))
        #expect(!key(.null).isComparable(to: key(.null)))
        var cut = SortKey()
        cut.append("abc", bytesMax: 2)
        #expect(cut == key("ab"))
    }
}
