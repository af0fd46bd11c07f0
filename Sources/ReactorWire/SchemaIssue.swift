/// A place where a value does not fit a schema.
public struct SchemaIssue: Equatable, Sendable {
    /// Names from the outermost value down to the place, such as `["increment", "by"]`.
    public var path: [String]
    /// What the schema has there: "an integer from 0 to 255".
    public var expected: String
    /// What the value has there: "text".
    public var got: String
    /// The known name that may have been meant.
    public var nearest: String?

    /// Says what was found where something else belongs.
    public init(path: [String], expected: String, got: String, nearest: String? = nil) {
        self.path = path
        self.expected = expected
        self.got = got
        self.nearest = nearest
    }
}

extension SchemaIssue: CustomStringConvertible {
    /// One line: place, expected and got, and the remedy where there is one. Safe to print.
    public var description: String {
        let place = path.isEmpty ? "value" : path.map(\.printable).joined(separator: ".")
        let remedy = nearest.map { "; did you mean \($0.quoted())?" } ?? ""
        return "\(place): expected \(expected), got \(got)\(remedy)"
    }
}

extension WireSchema {
    /// What the schema accepts, for an error's sentence: "an integer from 0 to 255".
    var kind: String {
        switch self {
        case .bool: "a bool"
        case .integer(let min, let max): "an integer from \(min) to \(max)"
        case .float: "a number"
        case .text: "text"
        case .bytes: "bytes ({\"$bytes\":\"base64\"} in JSON)"
        case .any: "any value"
        case .duration: "a number of seconds or [seconds, attoseconds]"
        case .optional(let wrapped): "\(wrapped.kind) or null"
        case .array(let element): "an array, each element \(element.kind)"
        case .map(let value): "a map, each value \(value.kind)"
        case .record(let record): "a map of the fields \(Self.list(record.fields.map(\.name)))"
        case .choice(let choice): "one of \(Self.list(choice.cases.map(\.name)))"
        case .reference(let name): "a \(name)"
        }
    }

    /// Names for a sentence, the first 16 of them.
    static func list(_ names: [String]) -> String {
        guard !names.isEmpty else { return "(none)" }
        let shown = names.prefix(16).joined(separator: ", ")
        return names.count > 16 ? shown + ", …" : shown
    }
}
