/// A place where a value does not fit a schema.
public struct SchemaIssue: Equatable, Sendable {
    /// Names from the outermost value to the place, such as `["increment", "by"]`.
    public var path: [String]
    /// The type that the schema expects: "an integer from 0 to 255".
    public var expected: String
    /// The kind of the value: "text".
    public var got: String
    /// The known name closest to a misspelt one.
    public var nearest: String?
    /// Whether the value names a case that the schema does not have.
    package var isUnknownCase = false

    /// Makes an issue of its parts.
    public init(path: [String], expected: String, got: String, nearest: String? = nil) {
        self.path = path
        self.expected = expected
        self.got = got
        self.nearest = nearest
    }
}

extension SchemaIssue: CustomStringConvertible {
    /// One line: place, expected and got, and the remedy if there is one. Safe to print.
    public var description: String {
        let place = path.isEmpty ? "value" : path.map(\.printable).joined(separator: ".")
        let remedy = nearest.map { "; did you mean \($0.quoted())?" } ?? ""
        return "\(place): expected \(expected), got \(got)\(remedy)"
    }
}
