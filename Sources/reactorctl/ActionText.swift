import ReactorClient
import ReactorWire

/// An action as a person writes it, checked before it is sent.
struct ActionText {
    private let schema: WireSchema
    private let path: String

    /// Asks the daemon what the node at `path` takes.
    init(_ path: String, from client: Client) async throws(Failure) {
        self.path = path
        schema = try await Failure.explain(path) { () throws(ClientError) in
            try await client.describe(path)
        }.action
    }

    /// The encoded action that `text` is the JSON of.
    ///
    /// *Throws*: with code 65, naming the field, what was expected, and the nearest name.
    func encode(_ text: some StringProtocol, line: Int? = nil) throws(Failure) -> [UInt8] {
        let place = line.map { "line \($0): " } ?? ""
        let value: WireValue
        do throws(JSONError) {
            value = try WireValue(json: Array(text.utf8))
        } catch {
            throw Failure(Failure.badActionCode, "\(place)the action is not JSON: \(error)")
        }
        return try encode(value, place)
    }

    /// The encoded action that `value` is; a complaint begins with `place`.
    func encode(_ value: WireValue, _ place: String = "") throws(Failure) -> [UInt8] {
        if let issue = schema.check(value).first {
            throw Failure(
                Failure.badActionCode,
                "\(place)not an action of \(path): \(issue); see `reactorctl describe \(path)`")
        }
        return value.wireBytes()
    }
}
