// MARK: - The connection itself
extension Client {
    /// How many connections the client has had: more than one say that what it owned by an earlier
    /// one, such as a lock, was given back meanwhile.
    public func connectionCount() async throws(ClientError) -> UInt64 {
        try await ask { client, then in then(.success(client.connectionCount)) }
    }

    /// Whether there is a connection now, over which the daemon answers.
    public func isLive() async throws(ClientError) -> Bool {
        try await ask { client, then in then(.success(client.phase == .live)) }
    }
}
