public import ReactorCore
import ReactorThreads

// MARK: - Actions for any path
extension Client {
    /// Sends an action of any shape to the node at `path` and waits for its outcome.
    ///
    /// *Throws*: where there is no such node; nothing was sent then.
    public func dispatch(
        _ path: String, _ action: some WireCodable, if expected: Revision? = nil
    ) async throws(ClientError) -> ActionOutcome {
        try await dispatch(
            path, encoded: action.wireBytes(), expected.map { DispatchOptions(expected: $0) })
    }

    /// Sends an action that is encoded already, under conditions, and waits for its outcome.
    public func dispatch(
        _ path: String, encoded action: [UInt8], _ conditions: DispatchOptions? = nil
    ) async throws(ClientError) -> ActionOutcome {
        let hold = try await node(at: path)
        return await port.dispatch(action.count, conditions) { (client, then) throws(ClientError) in
            try client.dispatch(encoded: action.span, to: hold.node, conditions) { outcome in
                hold.keep()
                then(outcome)
            }
        }
    }

    /// Sends an action of any shape to the node at `path`, and returns its outcome when the effects
    /// that it asked for have ended: see ``Mirror/perform(_:if:isPreviewed:)``.
    ///
    /// *Throws*: where there is no such node; nothing was sent then.
    public func perform(
        _ path: String, _ action: some WireCodable, if expected: Revision? = nil
    ) async throws(ClientError) -> ActionOutcome {
        try await perform(
            path, encoded: action.wireBytes(), expected.map { DispatchOptions(expected: $0) })
    }

    /// Sends an action that is encoded already, under conditions, and returns its outcome when its
    /// effects have ended.
    public func perform(
        _ path: String, encoded action: [UInt8], _ conditions: DispatchOptions? = nil
    ) async throws(ClientError) -> ActionOutcome {
        let hold = try await node(at: path)
        return await port.dispatch(action.count, conditions) { (client, then) throws(ClientError) in
            try client.perform(encoded: action.span, to: hold.node, conditions) { outcome in
                hold.keep()
                then(outcome)
            }
        }
    }

    /// Sends several actions as one transaction: all are applied, at one revision, or none is.
    ///
    /// With `awaitsEffects` it returns when the effects of all of them have ended.
    public func batch(
        _ actions: [(path: String, action: WireEmbedded)], if expected: Revision? = nil,
        awaitsEffects: Bool = false
    ) async throws(ClientError) -> ActionOutcome {
        var items: [(hold: NodeHold, action: WireEmbedded)] = []
        for (path, action) in actions { items.append((try await node(at: path), action)) }
        let conditions = expected.map { DispatchOptions(expected: $0) }
        // because each item is a pair with a number of up to 5 bytes, in an array
        let byteCount = items.reduce(9) { $0 + $1.action.bytes.count + 6 }
        return await port.dispatch(byteCount, conditions) {
            [items] (client, then) throws(ClientError) in
            let actions = items.map { (node: $0.hold.node, action: $0.action) }
            try client.batch(actions, conditions, awaitsEffects: awaitsEffects) { outcome in
                for item in items { item.hold.keep() }
                then(outcome)
            }
        }
    }
}

// MARK: - Questions
extension Client {
    /// The value of the slice at `path`, and the revision that it is of; `nil` if nothing stands
    /// there now.
    public func get(
        _ path: String
    ) async throws(ClientError) -> (revision: Revision, value: WireValue?) {
        try await value(.get(path: path))
    }

    /// The answer to a question for a value.
    func value(
        _ question: Ask
    ) async throws(ClientError) -> (revision: Revision, value: WireValue?) {
        let bytes = try await answer(question)
        return try Self.read(bytes) { (bytes, cursor) throws(WireError) in
            var items = try cursor.openArray(in: bytes)
            let revision = try cursor.element(Revision.self, 0, of: 3, in: bytes, &items)
            let isThere = try cursor.element(Bool.self, 1, of: 3, in: bytes, &items)
            let value = try cursor.element(WireValue.self, 2, of: 3, in: bytes, &items)
            return (revision, isThere ? .some(value) : .none)
        }
    }

    /// Follows the value of the slice at `path`.
    public func watch(_ path: String) -> Watch {
        let id = newWatchID()
        let feed = WatchFeed { [port] in
            _ = port.post { client in
                client.leave(watch: id)
            }
        }
        let isPosted = port.post { [weak feed] client in
            guard let feed else { return }
            client.follow(path, .value, WatchSink(id, feed))
        }
        if !isPosted {
            feed.state.withLock { $0.error = port.refusal }
            feed.changed.publish(isLast: true)
        }
        return Watch(feed: feed)
    }

    /// What can be sent to the node at `path`, and what it holds.
    public func describe(_ path: String) async throws(ClientError) -> NodeDescription {
        try await decoded(.describe(path: path))
    }

    /// All nodes, parents before children.
    public func tree() async throws(ClientError) -> [TreeEntry] { try await decoded(.tree) }

    /// The daemon's counters by name.
    public func stats() async throws(ClientError) -> [String: UInt64] {
        try await decoded(.stats)
    }

    /// The daemon's limits by name.
    public func limits() async throws(ClientError) -> [String: UInt64] {
        try await decoded(.limits)
    }

    /// The answer to a question, decoded.
    func decoded<Value: WireCodable & Sendable>(
        _ question: Ask
    ) async throws(ClientError) -> Value {
        let bytes = try await answer(question)
        return try Self.read(bytes) { (bytes, cursor) throws(WireError) in
            try Value.decode(bytes, &cursor)
        }
    }

    private func answer(_ question: Ask) async throws(ClientError) -> [UInt8] {
        try await ask { client, then in client.ask(question, then: then) }
    }

    private static func read<Value>(
        _ bytes: [UInt8],
        _ body: (Span<UInt8>, inout WireCursor) throws(WireError) -> Value
    ) throws(ClientError) -> Value {
        var cursor = WireCursor()
        do throws(WireError) {
            return try body(bytes.span, &cursor)
        } catch {
            throw .daemonFault("answer: \(error)")
        }
    }
}
