/// Durations of single operations in nanoseconds, all kept, so that percentiles are exact.
struct Samples {
    private var values: [UInt64] = []

    init() { values.reserveCapacity(1 << 20) }

    mutating func add(_ nanoseconds: UInt64) { values.append(nanoseconds) }

    var count: Int { values.count }

    /// The results: percentiles, the longest, the mean, the number of samples, and their rate per
    /// second if run one after another.
    func summary() throws -> [(String, Double)] {
        guard !values.isEmpty else { throw LoadError("nothing was measured in the given time") }
        let sorted = values.sorted()
        func percentile(_ share: Double) -> Double {
            Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
        }
        let mean = sorted.reduce(0) { $0 + Double($1) } / Double(count)
        return [
            ("p50", percentile(0.5)), ("p99", percentile(0.99)), ("p9999", percentile(0.9999)),
            ("longest", percentile(1)), ("mean", mean), ("count", Double(count)),
            ("rate", 1e9 / mean),
        ]
    }
}

/// The time in which samples count, after a warm-up.
struct Stretch {
    let begin: UInt64
    let end: UInt64

    init(now: UInt64, lasting nanoseconds: UInt64) {
        begin = now + nanoseconds / 10
        end = begin + nanoseconds
    }
}
