import ReactorWire

/// Which operations the slow log keeps: the `slowLog:` section. A threshold of zero keeps none.
public struct SlowLogConfig: Equatable, Sendable {
    /// Threshold for the actions that arrived together from one client.
    public var actions = Duration.milliseconds(10)
    /// Threshold for a turn: the time for which all other clients wait.
    public var turns = Duration.milliseconds(50)
    /// Threshold for the commit of a turn.
    public var commits = Duration.milliseconds(250)
    /// Threshold for an answer that is made outside the loop.
    public var questions = Duration.seconds(1)
    /// Maximum number of kept operations; the oldest are dropped.
    public var entriesMax = 128

    /// Creates the default settings.
    public init() {}
}

extension SlowLogConfig {
    /// The settings, for `reactord --check`.
    var rows: [(String, String)] {
        [
            ("actions", DurationText.format(actions)), ("turns", DurationText.format(turns)),
            ("commits", DurationText.format(commits)),
            ("questions", DurationText.format(questions)), ("entriesMax", "\(entriesMax)"),
        ]
    }
}

/// Reads the `slowLog:` section.
struct ConfigSlowLog {
    /// The settings of the section; unnamed keys keep their defaults.
    private(set) var slowLog = SlowLogConfig()
    /// The problems found in the section.
    private(set) var problems: [ConfigProblem] = []

    private static let keys = ["actions", "turns", "commits", "questions", "entriesMax"]
    private static let range = Duration.zero...Duration.seconds(3_600)

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
        case "actions": slowLog.actions = try scalar.quantity(.duration, in: Self.range)
        case "turns": slowLog.turns = try scalar.quantity(.duration, in: Self.range)
        case "commits": slowLog.commits = try scalar.quantity(.duration, in: Self.range)
        case "questions": slowLog.questions = try scalar.quantity(.duration, in: Self.range)
        case "entriesMax": slowLog.entriesMax = try scalar.quantity(.count, in: 1...10_000)
        default: throw section.unknown(entry, known: Self.keys)
        }
    }
}
