import ReactorWire

/// An action with blanks that are filled from a reply: `{"finish":{"id":"{{id}}"}}`.
///
/// A blank is a whole text `{{path}}`; the path names a field of the reply, its components are
/// separated by `/`. What stands there takes the text's place, whatever its type.
struct ActionTemplate {
    private let value: WireValue

    /// Reads the action, blanks and all, as JSON.
    init(json: String) throws(JSONError) { value = try WireValue(json: json) }

    /// The action with its blanks filled.
    ///
    /// *Throws*: with code 65 at a blank for which the reply has nothing.
    func filled(from reply: WireValue) throws(Failure) -> WireValue {
        try Self.fill(value, from: reply)
    }

    private static func fill(
        _ value: WireValue, from reply: WireValue
    ) throws(Failure) -> WireValue {
        switch value {
        case .text(let text):
            guard let path = blank(text) else { return value }
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

    /// The path in `text`, if it is a blank.
    private static func blank(_ text: String) -> Substring? {
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
