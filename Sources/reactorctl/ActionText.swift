import ReactorClient
import ReactorCore
import ReactorWire

/// Parses an action from JSON and checks it before it is sent.
struct ActionText {
    private let schema: WireSchema
    private let path: String
    private let client: Client

    /// Requests the schema of the actions of the node at `path`.
    init(_ path: String, from client: Client) async throws(Failure) {
        self.path = path
        self.client = client
        schema = try await client.describeReactor(path).action
    }

    /// Returns the encoded action for the JSON in `text`.
    ///
    /// *Throws*: with code 65, naming the field, the expected type, and the nearest name; with code
    /// 77 for a case that only the daemon sends.
    func encode(_ text: some StringProtocol, line: Int? = nil) async throws(Failure) -> [UInt8] {
        let place = line.map { "line \($0): " } ?? ""
        let value: WireValue
        do throws(JSONError) {
            value = try WireValue(json: Array(text.utf8))
        } catch {
            throw Failure(Failure.badActionCode, "\(place)the action is not JSON: \(error)")
        }
        return try await encode(value, place)
    }

    /// Returns the encoded action for `value`; error texts begin with `place`.
    func encode(_ value: WireValue, _ place: String = "") async throws(Failure) -> [UInt8] {
        try await check(value, place)
        return value.wireBytes()
    }

    /// Returns the action as an item of a batch; error texts begin with `place`.
    func embed(_ value: WireValue, _ place: String) async throws(Failure) -> WireEmbedded {
        try await check(value, place)
        return WireEmbedded(value)
    }

    private func check(_ value: WireValue, _ place: String) async throws(Failure) {
        let issues = schema.check(value)
        guard let issue = issues.first else { return }
        if issues.allSatisfy(\.isUnknownCase), let refusal = await refusal(of: value) {
            throw Failure(Failure.forbiddenCode, place + refusal)
        }
        throw Failure(
            Failure.badActionCode,
            "\(place)not an action of \(path): \(issue); see `reactorctl describe \(path)`")
    }

    /// The daemon's refusal of an action with a case that its schema for clients does not have; nil
    /// if no other client could send it either, such as a misspelt one.
    ///
    /// The daemon applies nothing, even if another program with that case has replaced it since it
    /// sent its schema: the second action of the batch is none of any reactor.
    private func refusal(of value: WireValue) async -> String? {
        let answer = try? await client.atomically { batch in
            batch.send(value, to: path)
            batch.send(WireValue.null, to: path)
        }
        guard let answer, case .rejected(let whole) = answer.outcome else { return nil }
        let rejection = answer.refused?.rejection ?? whole
        return rejection.code == FaultCode.forbidden.rawValue ? rejection.message : nil
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
