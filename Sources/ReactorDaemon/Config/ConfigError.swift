import ReactorWire

/// One mistake in a configuration: its location, its key, and the expected value.
public struct ConfigProblem: Error, Hashable, Sendable {
    /// The location in the file.
    public var location: ConfigLocation
    /// The key's path from the top of the file, such as `limits.frameBytesMax`; empty for the file.
    public var key: String
    /// The problem, the expected and actual value, and the remedy.
    public var reason: String

    /// Creates a problem from a text.
    package init(_ reason: String, key: String = "", at location: ConfigLocation) {
        self.location = location
        self.key = key
        self.reason = reason
    }

    /// Creates a problem for a value that does not fit its key.
    package init(expected: String, got: String, key: String, at location: ConfigLocation) {
        self.init("expected \(expected), got \(got)", key: key, at: location)
    }

    /// Creates a problem for an unknown name; suggests the nearest known name, or lists all.
    static func unknown(
        _ noun: String, _ name: String, known: [String], key: String, at location: ConfigLocation
    ) -> ConfigProblem {
        var reason = "unknown \(noun) \(quoted(name))"
        if let nearest = NearestName.of(name, among: known) {
            reason += ", did you mean \(nearest)?"
        } else if known.isEmpty {
            reason += ", none is known here"
        } else {
            reason += ", expected one of \(known.joined(separator: ", "))"
        }
        return ConfigProblem(reason, key: key, at: location)
    }

    /// Text from the file, safe to show on a terminal and bounded in length.
    static func quoted(_ text: String) -> String {
        let shownMax = 64
        let isCut = text.unicodeScalars.dropFirst(shownMax).first != nil
        return "\"\(escaped(String(text.unicodeScalars.prefix(shownMax))))\(isCut ? "…" : "")\""
    }

    /// Returns the text with control characters escaped, safe for a terminal.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { $0.escaped(asASCII: false) }.joined()
    }
}

extension ConfigProblem: CustomStringConvertible {
    public var description: String {
        key.isEmpty ? "\(location): \(reason)" : "\(location): \(Self.escaped(key)): \(reason)"
    }
}

/// All problems of a configuration, in the order of the file.
///
/// Reported together, so that the operator can correct them in one pass.
public struct ConfigError: Error, Equatable, Sendable {
    /// Never empty.
    public var problems: [ConfigProblem]

    /// Creates an error from several problems, sorted by location.
    package init(_ problems: [ConfigProblem]) {
        precondition(!problems.isEmpty, "a ConfigError needs a problem")
        self.problems = problems.enumerated().sorted {
            ($0.element.location.line, $0.element.location.column, $0.offset)
                < ($1.element.location.line, $1.element.location.column, $1.offset)
        }.map(\.element)
    }

    /// Creates an error from a single problem.
    package init(_ problem: ConfigProblem) { self.init([problem]) }
}

extension ConfigError: CustomStringConvertible {
    /// One line per problem.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
