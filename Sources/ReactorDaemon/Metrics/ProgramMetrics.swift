import CoreMetrics
import ReactorThreads

/// The metrics that an author's code records through swift-metrics, beside those of the daemon.
///
///     MetricsSystem.bootstrap(ProgramMetrics())
///     Counter(label: "orders.placed", dimensions: [("shop", "north")]).increment()
///     // orders_placed_total{shop="north"} 1.0
///
/// A mistake in that code, such as a label with the user's input, must not fill the memory: the
/// number of families, of series, and the bytes of names and labels have limits. A metric beyond
/// them, or with a name that Prometheus refuses, records nothing and is counted.
///
/// *Owner*: any thread. *Cost*: making a metric takes a look-up under a lock, and recording takes
/// the lock of the series.
final class ProgramMetrics: MetricsFactory {
    /// Maximum number of families, which are metrics of one name.
    static let familiesMax = 256
    /// Maximum number of series, which are metrics of one name and the same labels.
    static let seriesMax = 2_048
    /// Maximum number of series of one family.
    static let seriesPerFamilyMax = 256
    /// Maximum number of labels of a series.
    static let labelsMax = 8
    /// Maximum bytes of a name, and of the name and the value of a label.
    static let textBytesMax = 128

    private let registry = Guarded(Registry())

    /// Metrics of one name.
    private struct Family {
        var kind: MetricSeries.Kind
        /// By the text of the labels.
        var series: [String: MetricSeries] = [:]
    }

    private struct Registry {
        var families: [String: Family] = [:]
        var seriesCount = 0
        var droppedCount: UInt64 = 0
        /// Number of metrics that use a series, beyond the first.
        var sharers: [ObjectIdentifier: Int] = [:]
    }

    /// Number of metrics that record nothing.
    var droppedCount: UInt64 { registry.withLock { $0.droppedCount } }

    /// Writes all families, sorted by their names.
    func describe(in text: inout MetricsText) {
        let families = registry.withLock { $0.families }
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text.family(
                name, family.kind.family, "Recorded by the program's own code.",
                family.series.sorted { $0.key < $1.key }.flatMap { $0.value.samples })
        }
        text.counter(
            "reactord_program_metrics_dropped_total",
            "Metrics of the program's own code that record nothing: beyond the limits, or misnamed.",
            droppedCount)
    }

    private func make(
        _ kind: MetricSeries.Kind, _ label: String, _ dimensions: [(String, String)]
    ) -> MetricSeries? {
        let name = MetricName(label, endingWith: kind.suffix)
        let labels = MetricName.labels(dimensions)
        return registry.withLock { registry in
            guard let name, let labels else {
                registry.droppedCount &+= 1
                return nil
            }
            let key = labels.map { "\($0.name)=\($0.value)" }.joined(separator: "\u{0}")
            var family = registry.families[name.text] ?? Family(kind: kind)
            if let known = family.series[key], known.kind == kind {
                registry.sharers[ObjectIdentifier(known), default: 0] += 1
                return known
            }
            guard family.kind == kind, family.series[key] == nil,
                family.series.count < Self.seriesPerFamilyMax,
                registry.seriesCount < Self.seriesMax,
                !family.series.isEmpty || registry.families.count < Self.familiesMax
            else {
                registry.droppedCount &+= 1
                return nil
            }
            let series = MetricSeries(kind, name: name.text, key: key, labels)
            family.series[key] = series
            registry.families[name.text] = family
            registry.seriesCount += 1
            return series
        }
    }

    /// Removes a series after its last metric was destroyed.
    private func destroy(_ handler: AnyObject) {
        guard let series = handler as? MetricSeries else { return }
        registry.withLock { registry in
            let id = ObjectIdentifier(series)
            if let count = registry.sharers[id] {
                registry.sharers[id] = count > 1 ? count - 1 : nil
                return
            }
            guard registry.families[series.name]?.series[series.key] === series else { return }
            registry.families[series.name]?.series[series.key] = nil
            registry.seriesCount -= 1
            if registry.families[series.name]?.series.isEmpty ?? false {
                registry.families[series.name] = nil
            }
        }
    }
}

// MARK: - The facade's calls
extension ProgramMetrics {
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        make(.counter, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        make(.counter, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        make(.gauge, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        make(aggregate ? .summary : .gauge, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        make(.timer, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        destroy(handler)
    }
    func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }
}

/// The values of one metric with its labels.
///
/// *Owner*: any thread.
final class MetricSeries: CounterHandler, FloatingPointCounterHandler, MeterHandler,
    RecorderHandler, TimerHandler
{
    /// What a metric counts.
    enum Kind {
        /// A sum that grows.
        case counter
        /// The latest value.
        case gauge
        /// The sum and the number of values.
        case summary
        /// Durations by ranges.
        case timer

        /// The end of the family's name.
        var suffix: String {
            switch self {
            case .counter: "_total"
            case .timer: "_seconds"
            case .gauge, .summary: ""
            }
        }

        var family: MetricsText.Kind {
            switch self {
            case .counter: .counter
            case .gauge: .gauge
            case .summary: .summary
            case .timer: .histogram
            }
        }
    }

    /// The name of the family.
    let name: String
    /// The text of the labels, which tells it from others of the family.
    let key: String
    let kind: Kind
    private let labels: [MetricsText.Label]
    private let values: Guarded<Values>

    private struct Values {
        var sum = 0.0
        var count: UInt64 = 0
        var histogram: Histogram?
    }

    init(_ kind: Kind, name: String, key: String, _ labels: [MetricsText.Label]) {
        (self.kind, self.name, self.key, self.labels) = (kind, name, key, labels)
        values = Guarded(Values(histogram: kind == .timer ? Histogram() : nil))
    }

    /// The lines of the series.
    var samples: [MetricsText.Sample] {
        let values = values.withLock { $0 }
        if let histogram = values.histogram { return histogram.samples(labels) }
        let sum = MetricsText.Sample("", labels, "\(values.sum)")
        guard kind == .summary else { return [sum] }
        return [
            MetricsText.Sample("_sum", labels, "\(values.sum)"),
            MetricsText.Sample("_count", labels, "\(values.count)"),
        ]
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    /// Adds to a counter or a gauge; a counter never falls.
    func increment(by amount: Double) {
        guard amount.isFinite, amount >= 0 || kind != .counter else { return }
        values.withLock { $0.sum += amount }
    }

    func decrement(by amount: Double) { increment(by: -amount) }
    func reset() { values.withLock { $0.sum = 0 } }
    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) {
        if value.isFinite { values.withLock { $0.sum = value } }
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard kind == .summary else { return set(value) }
        guard value.isFinite else { return }
        values.withLock {
            $0.sum += value
            $0.count &+= 1
        }
    }

    func recordNanoseconds(_ duration: Int64) {
        values.withLock { $0.histogram?.record(UInt64(max(0, duration))) }
    }
}

/// A name in the form that Prometheus reads.
struct MetricName {
    /// The name.
    let text: String

    /// The name of a family from a metric's label; nil if there is none, or if it is one of the
    /// daemon's own.
    init?(_ label: String, endingWith suffix: String) {
        guard let name = Self.plain(label) else { return nil }
        text = name.hasSuffix(suffix) ? name : name + suffix
        if text.hasPrefix("reactord_") || Self.reserved.contains(text) { return nil }
    }

    // Libraries that report the process use these names, and a scrape has each family once.
    /// The families of the daemon that do not begin with its name.
    private static let reserved: Set = [
        "process_resident_memory_bytes", "process_cpu_seconds_total",
    ]

    /// Labels sorted by their names; nil if they are too many or too long, or if a name is used
    /// twice or reserved.
    static func labels(_ dimensions: [(String, String)]) -> [MetricsText.Label]? {
        guard dimensions.count <= ProgramMetrics.labelsMax else { return nil }
        var labels: [MetricsText.Label] = []
        for (name, value) in dimensions {
            guard let name = plain(name), value.utf8.count <= ProgramMetrics.textBytesMax,
                !name.hasPrefix("__"), !["le", "quantile"].contains(name),
                !labels.contains(where: { $0.name == name })
            else { return nil }
            labels.append((name, value))
        }
        return labels.sorted { $0.name < $1.name }
    }

    /// The text with `_` in the place of each character that a name cannot have.
    private static func plain(_ text: String) -> String? {
        guard !text.isEmpty, text.utf8.count <= ProgramMetrics.textBytesMax else { return nil }
        let plain = String(
            text.unicodeScalars.map { scalar in
                let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
                let isDigit = ("0"..."9").contains(scalar)
                return isLetter || isDigit ? Character(scalar) : "_"
            })
        return plain.first?.isNumber ?? true ? "_" + plain : plain
    }
}
