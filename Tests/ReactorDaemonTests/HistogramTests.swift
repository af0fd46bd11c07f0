import Testing

@testable import ReactorDaemon

@Suite("Histogram")
struct HistogramTests {
    @Test("the bounds ascend from 100 ns to 10 s, three for each decade")
    func bounds() {
        let bounds = Histogram.bounds
        #expect(bounds.first == 100 && bounds.last == 10_000_000_000)
        #expect(bounds.count == 25)
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
        #expect(bounds.contains(2_500_000) && bounds.contains(5_000_000_000))
    }

    @Test("a duration belongs to the first bound that is not below it")
    func ranges() {
        var histogram = Histogram()
        for nanoseconds: UInt64 in [0, 100, 101, 250, 10_000_000_000, 10_000_000_001, .max >> 1] {
            histogram.record(nanoseconds)
        }
        #expect(histogram.counts[0] == 2)
        #expect(histogram.counts[1] == 2)
        #expect(histogram.counts[24] == 1)
        #expect(histogram.counts[25] == 2)
        #expect(histogram.count == 7 && histogram.counts.reduce(0, +) == 7)
    }

    @Test("several equal durations count as often, and add to the sum as often")
    func times() {
        var histogram = Histogram()
        histogram.record(40, times: 16)
        histogram.record(1_000)
        #expect(histogram.counts[0] == 16 && histogram.count == 17)
        #expect(histogram.sum == 1_640)
    }

    @Test("the bound of a percentage is that of the range with this duration")
    func percentages() {
        var histogram = Histogram()
        #expect(histogram.bound(of: 50) == nil)
        histogram.record(120, times: 99)
        histogram.record(60_000)
        #expect(histogram.bound(of: 50) == 250 && histogram.bound(of: 99) == 250)
        #expect(histogram.bound(of: 100) == 100_000 && histogram.bound(of: 1) == 250)
        histogram.record(.max >> 8)
        #expect(histogram.bound(of: 100) == 10_000_000_000)
    }
}
