public import ReactorCore

// MARK: - By properties
extension Client {
    /// Mirrors the nested reactor that properties lead to:
    ///
    ///     let visits = try await client.mirror(ReactorPath(Shop.self).child(\.$visits))
    ///
    /// `text` is the same place as a path in text, where both are known.
    /// *Throws*: ``ClientError/otherPath(_:)`` where the two differ,
    /// ``ClientError/otherReactor(path:expected:actual:)`` where the daemon has another reactor
    /// there, and as for a mirror.
    public func mirror<R: Reactor>(
        _ path: ReactorPath<R>, at text: String? = nil
    ) async throws(ClientError) -> Mirror<R> {
        if let text {
            do throws(ReactorPathMismatch) {
                try path.check(text)
            } catch {
                throw .otherPath(error)
            }
        }
        let place = path.path.description
        let hold = try await node(at: place)
        let name = try await ask { client, then in
            then(.success(client.reactorName(of: hold.node)))
        }
        guard name == "\(R.self)" else {
            throw .otherReactor(path: place, expected: "\(R.self)", actual: name)
        }
        return try await mirror(path.make(), at: place)
    }
}
