import ReactorWire

/// The latest operations that took longer than their thresholds, for `reactorctl slowlog`.
///
/// *Shape*: numbers of entries ascend without a gap; above ``countMax`` entries, the oldest is
/// dropped. *Owner*: the loop's thread.
struct SlowLog {
    private var thresholds: [SlowKind: UInt64] = [:]
    /// Maximum number of entries; above it, the oldest is dropped.
    private var countMax = 0
    private var entries: [SlowEntry] = []
    /// Index of the oldest entry, once there are ``countMax``.
    private var first = 0
    private var lastNumber: UInt64 = 0
    /// Number of slow operations of each kind since the start.
    private(set) var counts: [SlowKind: UInt64] = [:]

    /// Keeps operations by the thresholds of `config`.
    init(_ config: SlowLogConfig = SlowLogConfig()) { configure(config) }

    /// Keeps further operations by the thresholds of `config`, and drops the oldest beyond its
    /// maximum.
    mutating func configure(_ config: SlowLogConfig) {
        let durations = [
            (SlowKind.actions, config.actions), (.turn, config.turns), (.commit, config.commits),
            (.question, config.questions),
        ]
        var thresholds: [SlowKind: UInt64] = [:]
        for (kind, duration) in durations where duration > .zero {
            thresholds[kind] = UInt64(duration / .nanoseconds(1))
        }
        self.thresholds = thresholds
        countMax = config.entriesMax
        entries = entries(after: 0).suffix(countMax)
        first = 0
    }

    /// The shortest duration of a kind that is recorded, in nanoseconds; the maximum if none is.
    func threshold(of kind: SlowKind) -> UInt64 { thresholds[kind] ?? .max }

    /// Continues the log of a former process of the daemon: its entries come before those of this
    /// one, which get later numbers.
    mutating func restore(_ former: [SlowEntry]) {
        let own = entries(after: 0)
        entries = former.suffix(countMax)
        (first, lastNumber) = (0, former.last?.number ?? 0)
        for entry in own { append(entry) }
    }

    /// Adds an operation, and gives it its number.
    mutating func add(_ entry: SlowEntry) {
        counts[entry.kind, default: 0] += 1
        append(entry)
    }

    private mutating func append(_ entry: SlowEntry) {
        lastNumber += 1
        var entry = entry
        entry.number = lastNumber
        if entries.count < countMax {
            entries.append(entry)
        } else if countMax > 0 {
            entries[first] = entry
            first = (first + 1) % countMax
        }
        invariants()
    }

    /// The entries after number `number`, oldest first.
    func entries(after number: UInt64) -> [SlowEntry] {
        (entries[first...] + entries[..<first]).filter { $0.number > number }
    }

    private func invariants() {
        assert(entries.count <= countMax, "\(entries.count) slow operations are kept")
        assert(first == 0 || entries.count == countMax, "the oldest entry is not the first")
        assert(
            entries.count > 32 || entries(after: 0).last?.number == lastNumber,
            "entry \(lastNumber) is not the latest")
    }
}
