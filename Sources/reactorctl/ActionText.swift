import ReactorClient
import ReactorWire

/// Parses an action from JSON and checks it before it is sent.
struct ActionText {
    private let schema: WireSchema
    private let path: String

    /// Requests the schema of the actions of the node at `path`.
    init(_ path: String, from client: Client) async throws(Failure) {
        self.path = path
        schema = try await client.describeReactor(path).action
    }

    /// Returns the encoded action for the JSON in `text`.
    ///
    /// *Throws*: with code 65, naming the field, the expected type, and the nearest name.
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

    /// Returns the encoded action for `value`; error texts begin with `place`.
    func encode(_ value: WireValue, _ place: String = "") throws(Failure) -> [UInt8] {
        try check(value, place)
        return value.wireBytes()
    }

    /// Returns the action as an item of a batch; error texts begin with `place`.
    func embed(_ value: WireValue, _ place: String) throws(Failure) -> WireEmbedded {
        try check(value, place)
        return WireEmbedded(value)
    }

    private func check(_ value: WireValue, _ place: String) throws(Failure) {
        guard let issue = schema.check(value).first else { return }
        throw Failure(
            Failure.badActionCode,
            "\(place)not an action of \(path): \(issue); see `reactorctl describe \(path)`")
    }
}

extension Client {
    /// Returns the description of the reactor at `path`.
    ///
    /// *Throws*: for the path of a field, a text that names its reactor.
    func describeReactor(_ path: String) async throws(Failure) -> NodeDescription {
        do throws(Failure) {
            return try await Failure.explain(path) { () throws(ClientError) in
                try await describe(path)
            }
        } catch {
            guard error.code == Failure.noPathCode, let reactor = await reactor(ofField: path)
            else {
                throw error
            }
            throw Failure(
                Failure.noPathCode,
                "\(path) is in the state of the reactor \(reactor): name the reactor, \(reactor)")
        }
    }

    /// Returns the path of the reactor whose state has a field at `path`; nil if there is none.
    private func reactor(ofField path: String) async -> String? {
        guard (try? await get(path)) != nil else { return nil }
        var rest = path[...]
        while let slash = rest.lastIndex(of: "/"), slash != rest.startIndex {
            rest = rest[..<slash]
            if (try? await describe(String(rest))) != nil { return String(rest) }
        }
        return nil
    }
}
