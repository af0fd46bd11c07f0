import ReactorWire

/// An action with placeholders that are filled from a reply: `{"finish":{"id":"{{id}}"}}`.
///
/// A placeholder is a whole text `{{path}}`. The path names a field of the reply, with `/`
/// between its components. The field's value replaces the text, whatever its type.
struct ActionTemplate {
    private let value: WireValue

    /// Parses the action with its placeholders from JSON.
    init(json: String) throws(JSONError) { value = try WireValue(json: json) }

    /// Returns the action with its placeholders filled.
    ///
    /// *Throws*: with code 65 at a placeholder without a field in the reply.
    func filled(from reply: WireValue) throws(Failure) -> WireValue {
        try Self.fill(value, from: reply)
    }

    private static func fill(
        _ value: WireValue, from reply: WireValue
    ) throws(Failure) -> WireValue {
        switch value {
        case .text(let text):
            guard let path = placeholderPath(text) else { return value }
            guard let found = part(of: reply, at: path) else {
                throw Failure(
                    Failure.badActionCode, "\(text): the reply has no such field: \(reply.json())")
            }
            return found
        case .array(let elements):
            var filled: [WireValue] = []
            for element in elements { filled.append(try fill(element, from: reply)) }
            return .array(filled)
        case .map(let map):
            var filled = WireMap()
            for pair in map { filled[pair.key] = try fill(pair.value, from: reply) }
            return .map(filled)
        default: return value
        }
    }

    /// Returns the path if `text` is a placeholder.
    private static func placeholderPath(_ text: String) -> Substring? {
        guard text.hasPrefix("{{"), text.hasSuffix("}}"), text.count > 4 else { return nil }
        return text.dropFirst(2).dropLast(2)
    }

    private static func part(of reply: WireValue, at path: Substring) -> WireValue? {
        var value = reply
        for name in path.split(separator: "/", omittingEmptySubsequences: false) {
            guard case .map(let map) = value, let next = map[WireKey(String(name))] else {
                return nil
            }
            value = next
        }
        return value
    }
}
