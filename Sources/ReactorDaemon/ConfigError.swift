import ReactorWire

/// One mistake in a configuration: where, under which key, and what was expected instead.
public struct ConfigProblem: Error, Hashable, Sendable {
    /// Where in the file it stands.
    public var place: ConfigPlace
    /// The key's path from the top of the file, such as `limits.frameBytesMax`; empty for the file.
    public var key: String
    /// What is wrong, what was expected and found, and the remedy.
    public var reason: String

    /// A mistake at a place.
    public init(_ reason: String, key: String = "", at place: ConfigPlace) {
        self.place = place
        self.key = key
        self.reason = reason
    }

    /// A value that is not what its key asks for.
    public init(expected: String, got: String, key: String, at place: ConfigPlace) {
        self.init("expected \(expected), got \(got)", key: key, at: place)
    }

    /// A name that is not among the known ones; offers the nearest, else all.
    static func unknown(
        _ noun: String, _ name: String, known: [String], key: String, at place: ConfigPlace
    ) -> ConfigProblem {
        var reason = "unknown \(noun) \(quoted(name))"
        if let nearest = NearestName.of(name, among: known) {
            reason += ", did you mean \(nearest)?"
        } else if known.isEmpty {
            reason += ", none is known here"
        } else {
            reason += ", expected one of \(known.joined(separator: ", "))"
        }
        return ConfigProblem(reason, key: key, at: place)
    }

    /// Text from the file, safe to show on a terminal and bounded in length.
    static func quoted(_ text: String) -> String {
        let shownMax = 64
        let isCut = text.unicodeScalars.dropFirst(shownMax).first != nil
        return "\"\(escaped(String(text.unicodeScalars.prefix(shownMax))))\(isCut ? "…" : "")\""
    }

    /// Text without anything that a terminal would obey.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { $0.escaped(asASCII: false) }.joined()
    }
}

extension ConfigProblem: CustomStringConvertible {
    public var description: String {
        key.isEmpty ? "\(place): \(reason)" : "\(place): \(Self.escaped(key)): \(reason)"
    }
}

/// All that is wrong with a configuration, in the order of the file.
///
/// All at once, because an operator who mends one mistake per start is an operator who waits.
public struct ConfigError: Error, Equatable, Sendable {
    /// At least one.
    public var problems: [ConfigProblem]

    /// Several mistakes, sorted by their places.
    public init(_ problems: [ConfigProblem]) {
        precondition(!problems.isEmpty, "a ConfigError needs a problem")
        self.problems = problems.enumerated().sorted {
            ($0.element.place.line, $0.element.place.column, $0.offset)
                < ($1.element.place.line, $1.element.place.column, $1.offset)
        }.map(\.element)
    }

    /// A single mistake.
    public init(_ problem: ConfigProblem) { self.init([problem]) }
}

extension ConfigError: CustomStringConvertible {
    /// One line per mistake.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
