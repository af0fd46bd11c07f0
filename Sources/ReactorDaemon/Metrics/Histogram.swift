/// Counts durations in ranges, for a histogram of Prometheus.
///
///     var turns = Histogram()
///     turns.record(12_000)        // 12 µs
///
/// *Shape*: ``counts`` has one element more than ``bounds``: a duration belongs to the first bound
/// that is not below it, and the last element counts the durations above all bounds. *Cost*: no
/// allocation; a duration is compared with at most three bounds.
struct Histogram: Equatable, Sendable {
    /// Upper bounds of the ranges in nanoseconds, ascending: 100 ns to 10 s, three for each decade.
    static let bounds: [UInt64] =
        (2...9).flatMap { exponent in
            [UInt64(100), 250, 500].map { $0 * Self.power(exponent) / 100 }
        } + [10_000_000_000]

    /// Sum of all durations in nanoseconds.
    private(set) var sum: UInt64 = 0
    private var slots = InlineArray<26, UInt64>(repeating: 0)
    // Copies within the value: the access to a static property checks whether it is initialized.
    private let limits: InlineArray<25, UInt64>
    /// By the position of a duration's highest bit, the first bound that is not below the smallest
    /// duration with that bit.
    private let firsts: InlineArray<64, UInt8>

    /// Makes an empty histogram.
    init() {
        let bounds = Self.bounds
        limits = InlineArray { bounds[$0] }
        firsts = InlineArray { bit in
            UInt8(bounds.firstIndex { $0 >= 1 << UInt64(bit) } ?? bounds.count)
        }
    }

    /// Number of durations in each range.
    var counts: [UInt64] { slots.indices.map { slots[$0] } }

    /// Number of all durations.
    var count: UInt64 { counts.reduce(0, &+) }

    /// The upper bound of the range that contains the duration at `percent` of all, in ascending order;
    /// nil without durations. The highest bound also for durations above all bounds.
    func bound(of percent: UInt64) -> UInt64? {
        var left = (count * percent + 99) / 100
        for (index, count) in counts.enumerated() where count > 0 {
            if count >= left { return Self.bounds[min(index, Self.bounds.count - 1)] }
            left -= count
        }
        return nil
    }

    /// Counts a duration in nanoseconds, `times` times.
    mutating func record(_ nanoseconds: UInt64, times: UInt64 = 1) {
        // 0 belongs to the first range, as 1 does.
        var index = Int(firsts[63 &- (nanoseconds | 1).leadingZeroBitCount])
        while index < limits.count, limits[index] < nanoseconds { index &+= 1 }
        slots[index] &+= times
        sum &+= nanoseconds &* times
    }

    static func == (left: Histogram, right: Histogram) -> Bool {
        left.sum == right.sum && left.slots.indices.allSatisfy { left.slots[$0] == right.slots[$0] }
    }

    private static func power(_ exponent: Int) -> UInt64 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}
