/// Writes metrics in the text format of Prometheus, version 0.0.4.
///
///     var text = MetricsText()
///     text.counter("reactord_turns_total", "Turns that changed something.", 12)
///     text.histogram("reactord_turn_seconds", "Duration of a turn.", turns)
///
/// *Shape*: a family is `# HELP`, `# TYPE` and its samples; a family's name occurs once.
struct MetricsText {
    /// The text so far; each line ends with a line feed.
    private(set) var text = ""

    /// The kinds of families that this type writes.
    enum Kind: String {
        case counter
        case gauge
        case histogram
        case summary
    }

    /// A label with its value.
    typealias Label = (name: String, value: String)

    /// A line of a family.
    struct Sample {
        /// What follows the family's name.
        var suffix: String
        var labels: [Label]
        var value: String

        init(_ suffix: String, _ labels: [Label], _ value: String) {
            (self.suffix, self.labels, self.value) = (suffix, labels, value)
        }
    }

    /// Writes a family with all its lines.
    mutating func family(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        header(name, kind, help)
        for line in samples { sample(name + line.suffix, line.labels, line.value) }
    }

    /// Writes a counter without labels.
    mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
        header(name, .counter, help)
        sample(name, [], "\(value)")
    }

    /// Writes a counter in seconds.
    mutating func counter(_ name: String, _ help: String, seconds: Double) {
        header(name, .counter, help)
        sample(name, [], "\(seconds)")
    }

    /// Writes a counter with a sample for each value of one label.
    mutating func counters(
        _ name: String, _ help: String, by label: String,
        _ values: some Sequence<(String, UInt64)>
    ) {
        header(name, .counter, help)
        for (labelled, value) in values { sample(name, [(label, labelled)], "\(value)") }
    }

    /// Writes a gauge without labels; nothing if there is no value.
    mutating func gauge(_ name: String, _ help: String, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        header(name, .gauge, help)
        sample(name, [], "\(value)")
    }

    /// Writes a gauge in seconds without labels; nothing if there is no value.
    mutating func gauge(_ name: String, _ help: String, seconds: Double?) {
        guard let seconds else { return }
        header(name, .gauge, help)
        sample(name, [], "\(seconds)")
    }

    /// Writes a gauge with a sample for each value of one label.
    mutating func gauges(
        _ name: String, _ help: String, by label: String, _ values: some Sequence<(String, Int)>
    ) {
        header(name, .gauge, help)
        for (labelled, value) in values { sample(name, [(label, labelled)], "\(value)") }
    }

    /// Writes a gauge that is always 1 and whose labels are the information.
    mutating func information(_ name: String, _ help: String, _ labels: [Label]) {
        header(name, .gauge, help)
        sample(name, labels, "1")
    }

    /// Writes a histogram in seconds.
    mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
        family(name, .histogram, help, histogram.samples([]))
    }

    private mutating func header(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n"
        text += "# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func sample(_ name: String, _ labels: [Label], _ value: String) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        text += " \(value)\n"
    }

    /// Nanoseconds as seconds.
    static func seconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1e9 }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Histogram {
    /// The lines of a histogram in seconds with these labels.
    func samples(_ labels: [MetricsText.Label]) -> [MetricsText.Sample] {
        var samples: [MetricsText.Sample] = []
        var sum: UInt64 = 0
        for (bound, number) in zip(Self.bounds, counts) {
            sum &+= number
            let limit = "\(MetricsText.seconds(bound))"
            samples.append(MetricsText.Sample("_bucket", labels + [("le", limit)], "\(sum)"))
        }
        return samples + [
            MetricsText.Sample("_bucket", labels + [("le", "+Inf")], "\(count)"),
            MetricsText.Sample("_sum", labels, "\(MetricsText.seconds(self.sum))"),
            MetricsText.Sample("_count", labels, "\(count)"),
        ]
    }
}
