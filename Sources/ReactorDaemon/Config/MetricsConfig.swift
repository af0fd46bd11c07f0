import ReactorLoop
import ReactorWire

/// Where a daemon shows its metrics: the `metrics:` section.
public struct MetricsConfig: Equatable, Sendable {
    /// The path of a Unix socket that answers HTTP requests; nil opens none.
    public var socket: String?
    /// The path of a file that is replaced regularly, for node_exporter; nil writes none.
    public var textfile: String?
    /// The time between two writes of ``textfile``.
    public var every = Duration.seconds(15)

    /// Creates settings without a socket and without a file.
    public init() {}
}

extension MetricsConfig {
    /// The settings, for `reactord --check`.
    var rows: [(String, String)] {
        let file = textfile.map {
            "\(ConfigProblem.escaped($0)), every \(DurationText.format(every))"
        }
        return [
            ("socket", socket.map(ConfigProblem.escaped) ?? "none"), ("textfile", file ?? "none"),
        ]
    }
}

/// Reads the `metrics:` section.
struct ConfigMetrics {
    /// The settings of the section; unnamed keys keep their defaults.
    private(set) var metrics = MetricsConfig()
    /// The problems found in the section.
    private(set) var problems: [ConfigProblem] = []

    private static let keys = ["socket", "textfile", "every"]
    private static let everyRange = Duration.seconds(1)...Duration.seconds(3_600)

    init(_ section: ConfigSection) {
        problems = section.problems { (entry) throws(ConfigProblem) in
            try read(entry, of: section)
        }
    }

    private mutating func read(
        _ entry: ConfigSection.Entry, of section: ConfigSection
    ) throws(ConfigProblem) {
        let scalar = ConfigScalar(entry, in: section.document)
        switch entry.name {
        case "socket":
            let path = try scalar.text(expected: "an absolute path, or no `socket:`")
            if let refusal = SocketPathError(path) { throw scalar.problem(refusal.description) }
            metrics.socket = path
        case "textfile":
            let expectation = "the absolute path of a file, or no `textfile:`"
            let path = try scalar.text(expected: expectation)
            guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
                throw scalar.problem(expected: expectation)
            }
            metrics.textfile = path
        case "every": metrics.every = try scalar.quantity(.duration, in: Self.everyRange)
        default: throw section.unknown(entry, known: Self.keys)
        }
    }
}
