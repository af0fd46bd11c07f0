import ReactorThreads

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

    /// Waits until the connection of this number is over: it was lost, or the client has ended.
    ///
    /// *Throws*: where the task is cancelled, or the client had ended before.
    package func connectionEnds(_ number: UInt64) async throws(ClientError) {
        try await ask { client, then in
            client.wait { phase, last in
                last != number || phase != .live
            } then: {
                then(.success(()))
            }
        }
    }

    /// Waits until there is a connection over which the daemon answers, or until the client ends.
    package func becomesLive() async throws(ClientError) {
        try await ask { client, then in
            client.wait { phase, _ in
                phase == .live
            } then: {
                then(.success(()))
            }
        }
    }

    /// Sends an encoded action and waits for its outcome. Also answers the number of the connection
    /// that brought the outcome: that connection owns what the action acquired.
    ///
    /// *Throws*: where there is no such node; nothing was sent then.
    package func acquire(
        _ path: String, encoded action: [UInt8]
    ) async throws(ClientError) -> (outcome: ActionOutcome, connection: UInt64) {
        let hold = try await node(at: path)
        let number = Guarded<UInt64>(0)
        let outcome = await port.dispatch(action.count, nil) {
            (client, then) throws(ClientError) in
            try client.dispatch(encoded: action.span, to: hold.node, nil) {
                [unowned client] outcome in
                hold.keep()
                number.withLock { $0 = client.connectionCount }
                then(outcome)
            }
        }
        return (outcome, number.withLock { $0 })
    }
}
