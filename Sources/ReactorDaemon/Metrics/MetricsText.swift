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
    }

    /// A label with its value.
    typealias Label = (name: String, value: String)

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
        header(name, .histogram, help)
        var count: UInt64 = 0
        for (bound, number) in zip(Histogram.bounds, histogram.counts) {
            count &+= number
            sample(name + "_bucket", [("le", "\(Self.seconds(bound))")], "\(count)")
        }
        sample(name + "_bucket", [("le", "+Inf")], "\(histogram.count)")
        sample(name + "_sum", [], "\(Self.seconds(histogram.sum))")
        sample(name + "_count", [], "\(histogram.count)")
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
