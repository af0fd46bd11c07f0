/// A fault in a JSON text, with its position.
public struct JSONError: Error, Equatable, Sendable {
    /// The fault.
    public var condition: Condition
    /// Line, from 1.
    public var line: Int
    /// Column in Unicode scalars, from 1.
    public var column: Int

    /// Makes an error at a position.
    package init(condition: Condition, line: Int, column: Int) {
        self.condition = condition
        self.line = line
        self.column = column
    }

    /// The possible faults of a JSON text.
    public enum Condition: Equatable, Sendable {
        /// A character that JSON does not allow here.
        case unexpected(String, expected: String)
        /// The text ends where more must follow.
        case unexpectedEnd(expected: String)
        /// Nesting beyond ``WireLimits/depthMax``.
        case tooDeep
        /// The same key twice in one object, compared by bytes.
        case duplicateKey(String)
        /// An integer beyond -2^64 to 2^64 - 1.
        case integerOutOfRange(String)
        /// A finite number that a double cannot hold.
        case floatOutOfRange(String)
        /// Bytes that are not UTF-8.
        case invalidText
        /// A surrogate without its other half.
        case loneSurrogate
        /// An object with the single key `$bytes`, `$float` or `$map`, and a value that this key
        /// does not allow.
        case invalidWrapper(key: String, expected: String)
    }
}

extension JSONError: CustomStringConvertible {
    public var description: String { "line \(line), column \(column): \(condition)" }
}

extension JSONError.Condition: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unexpected(let got, let expected): "expected \(expected), got \(got.quoted())"
        case .unexpectedEnd(let expected): "expected \(expected), got the end of the text"
        case .tooDeep: "nested deeper than \(WireLimits.depthMax)"
        case .duplicateKey(let key): "key \(key.quoted()) occurs twice"
        case .integerOutOfRange(let text):
            "integer \(text.quoted()) is beyond -2^64 to 2^64 - 1, write a float (1e30) or text"
        case .floatOutOfRange(let text): "number \(text.quoted()) is too large for a double"
        case .invalidText: "text is not valid UTF-8"
        case .loneSurrogate: "half of a surrogate pair without the other"
        case .invalidWrapper(let key, let expected):
            "\"\(key)\" takes \(expected); a map with this single key is written {\"$map\":{…}}"
        }
    }
}
