/// Counts durations in ranges, for a histogram of Prometheus.
///
///     var turns = Histogram()
///     turns.record(12_000)        // 12 µs
///
/// *Shape*: ``counts`` has one element more than ``bounds``: a duration belongs to the first bound
/// that is not below it, and the last element counts the durations above all bounds. The sum of the
/// counts is ``count``. *Cost*: no allocation; a duration is compared with the bounds up to its own.
struct Histogram: Equatable, Sendable {
    /// Upper bounds of the ranges in nanoseconds, ascending: 100 ns to 10 s, three for each decade.
    static let bounds: [UInt64] =
        (2...9).flatMap { exponent in
            [UInt64(100), 250, 500].map { $0 * Self.power(exponent) / 100 }
        } + [10_000_000_000]

    /// Number of durations in each range.
    private(set) var counts: [UInt64]
    /// Number of all durations.
    private(set) var count: UInt64 = 0
    /// Sum of all durations in nanoseconds.
    private(set) var sum: UInt64 = 0
    // A copy of the reference: the access to a static property checks whether it is initialized.
    private let bounds = Histogram.bounds

    /// Makes an empty histogram.
    init() { counts = [UInt64](repeating: 0, count: Self.bounds.count + 1) }

    /// Counts a duration in nanoseconds, `times` times.
    mutating func record(_ nanoseconds: UInt64, times: UInt64 = 1) {
        var index = 0
        while index < bounds.count, bounds[index] < nanoseconds { index += 1 }
        counts[index] &+= times
        count &+= times
        sum &+= nanoseconds &* times
    }

    private static func power(_ exponent: Int) -> UInt64 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}
