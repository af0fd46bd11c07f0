public import ReactorCore
import ReactorThreads

// MARK: - Actions for any path
extension Client {
    /// Sends an action of any shape to the node at `path` and waits for its outcome.
    ///
    /// *Throws*: if there is no such node; the action is not sent then.
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
        return await port.dispatch(
            OutgoingAction(encoded: action, to: hold.node, conditions), holding: hold)
    }

    /// Takes from a connection what it owns at `path`, `key` alone or everything, as its end would.
    package func release(
        _ path: String, of connection: UInt64, key: WireKey? = nil
    ) async throws(ClientError) -> ActionOutcome {
        let release = OwnershipRelease(connection: connection, key: key)
        return try await dispatch(path, encoded: [], DispatchOptions(release: release))
    }

    /// Sends an action of any shape to the node at `path`, and returns its outcome when the effects
    /// that it asked for have ended: see ``Mirror/perform(_:if:isPreviewed:)``.
    ///
    /// *Throws*: if there is no such node; the action is not sent then.
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
        var outgoing = OutgoingAction(encoded: action, to: hold.node, conditions)
        outgoing.awaitsEffects = true
        return await port.dispatch(outgoing, holding: hold)
    }

    /// Sends several actions as one transaction: all are applied, at one revision, or none is.
    ///
    /// With `awaitsEffects` it returns when the effects of all of them have ended.
    public func batch(
        _ actions: [(path: String, action: WireEmbedded)], if expected: Revision? = nil,
        awaitsEffects: Bool = false
    ) async throws(ClientError) -> ActionOutcome {
        var holds: [NodeHold] = []
        for (path, _) in actions { holds.append(try await node(at: path)) }
        let items = zip(holds, actions).map { (node: $0.node, action: $1.action) }
        var outgoing = OutgoingAction(
            batch: items, expected.map { DispatchOptions(expected: $0) })
        outgoing.awaitsEffects = awaitsEffects
        return await port.dispatch(outgoing, holding: holds)
    }

    /// Sends actions for several nodes as one transaction: all are applied, at one revision, or none
    /// is.
    ///
    ///     let outcome = try await client.atomically { batch in
    ///         batch.send(.start, to: runs)
    ///         batch.send(.note("started"), to: log)
    ///     }
    ///     try outcome.get()
    ///
    /// The targets are mirrors of this client, paths of properties, or paths in text. Each action
    /// sees what the actions before it have changed. A refusal names the refused action:
    /// ``BatchOutcome/refused``. `expected` makes the whole a compare-and-set: it is rejected with
    /// `CONFLICT` if any node of the daemon has changed since that revision. With `awaitsEffects`,
    /// the call returns when the effects of all actions have ended.
    ///
    /// With `isPreviewed`, each mirror shows its own actions at once, as in
    /// ``Mirror/send(_:isPreviewed:cancel:)``, until the daemon has answered the batch. A mirror
    /// does not show what the actions for other nodes cause in its node. Replies of the reactors
    /// are not returned.
    ///
    /// *Throws*: if a node does not exist, or is not of the path's type; nothing is sent then.
    public nonisolated(nonsending) func atomically(
        if expected: Revision? = nil, isPreviewed: Bool = false, awaitsEffects: Bool = false,
        _ build: (inout ActionBatch) -> Void
    ) async throws(ClientError) -> BatchOutcome {
        var batch = ActionBatch(of: shared)
        build(&batch)
        return try await submit(
            batch.items, expected.map { DispatchOptions(expected: $0) }, isPreviewed: isPreviewed,
            awaitsEffects: awaitsEffects)
    }

    /// Sends actions as one transaction under any conditions: see
    /// ``atomically(if:isPreviewed:awaitsEffects:_:)``.
    package nonisolated(nonsending) func atomically(
        under conditions: DispatchOptions?, awaitsEffects: Bool = false,
        _ build: (inout ActionBatch) -> Void
    ) async throws(ClientError) -> BatchOutcome {
        var batch = ActionBatch(of: shared)
        build(&batch)
        return try await submit(
            batch.items, conditions, isPreviewed: false, awaitsEffects: awaitsEffects)
    }

    private func submit(
        _ items: [ActionBatch.Item], _ conditions: DispatchOptions?, isPreviewed: Bool,
        awaitsEffects: Bool
    ) async throws(ClientError) -> BatchOutcome {
        var holds: [NodeHold] = []
        for item in items {
            switch item.target {
            case .held(let hold): holds.append(hold)
            case .path(let names) where names.isEmpty:
                holds.append(try await node(at: item.path))
            case .path(let names): holds.append(try await node(at: item.path, called: names))
            }
        }
        var outgoing = OutgoingAction(
            batch: zip(holds, items).map { ($0.node, $1.action) }, conditions)
        outgoing.awaitsEffects = awaitsEffects
        if isPreviewed { outgoing.preview = ActionBatch.preview(items) }
        let outcome = await port.dispatch(
            outgoing, holding: holds, by: ActionBatch.submission(of: items))
        return BatchOutcome(outcome, of: items)
    }

    // MARK: Questions

    /// Returns the value of the slice at `path` and the revision of that value; `nil` if there is
    /// no node at `path` now.
    public func get(
        _ path: String
    ) async throws(ClientError) -> (revision: Revision, value: WireValue?) {
        try await value(.get(path: path))
    }

    /// Returns the value of a selection of the children of the collection at `path`.
    ///
    ///     let failed = Selection(
    ///         filter: .compare(field: ["status"], by: .equal, with: "failed"), first: 10)
    ///     let runs = try await client.get("/runs", selecting: failed)
    ///
    /// With an order, the value has the keys in order beside the children: see
    /// ``ReactorWire/Selection``.
    public func get(
        _ path: String, selecting selection: Selection
    ) async throws(ClientError) -> (revision: Revision, value: WireValue?) {
        do throws(ClientError) {
            return try await value(.select(path: path, selection: selection))
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            throw ClientError(refusal, to: .selection)
        }
    }

    /// Waits until the daemon's state is as recent as `consistency` demands, and returns its revision.
    /// What this client asks next is answered from that state, or a later one.
    ///
    ///     try await client.sync(.linearizable)
    ///     let (revision, visits) = try await client.get("/visits")
    ///
    /// Mirrors may be behind the daemon: for these, ``Mirror/sync(_:within:)``.
    ///
    /// *Throws*: ``ClientError/refused(_:)`` with ``FaultCode/deadline`` if the state is not as recent
    /// within `limit`, and with ``FaultCode/conflict`` if the revision is one of another history.
    @discardableResult
    public func sync(
        _ consistency: ReadConsistency, within limit: Duration = .seconds(5)
    ) async throws(ClientError) -> Revision {
        try await port.sync(consistency, within: limit)
    }

    /// Returns the value of the slice at `path` in a state that is as recent as `consistency` demands.
    ///
    /// *Throws*: as ``sync(_:within:)``.
    public func get(
        _ path: String, _ consistency: ReadConsistency, within limit: Duration = .seconds(5)
    ) async throws(ClientError) -> (revision: Revision, value: WireValue?) {
        try await sync(consistency, within: limit)
        return try await get(path)
    }

    /// Asks the daemon a question whose answer is a value.
    func value(
        _ question: Question
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
    public func watch(_ path: String) -> Watch { watch(path, selecting: nil) }

    /// Follows the value of the slice at `path`, or of a selection of the children of the collection
    /// there, such as the ten newest.
    ///
    /// The daemon sends a patch for a child that changes, enters the selection or leaves it, and
    /// nothing for the other children.
    public func watch(_ path: String, selecting selection: Selection?) -> Watch {
        let id = newWatchID()
        let feed = WatchFeed { [port] in
            _ = port.post { client in
                client.leave(watch: id)
            }
        }
        let isPosted = port.post { [weak feed] client in
            guard let feed else { return }
            client.follow(path, .value, WatchSink(id, feed), selecting: selection)
        }
        if !isPosted {
            feed.state.withLock { $0.error = port.refusal }
            feed.changed.publish(isLast: true)
        }
        return Watch(feed: feed)
    }

    /// Describes the node at `path`: its actions and its state.
    public func describe(_ path: String) async throws(ClientError) -> NodeDescription {
        try await decoded(.describe(path: path))
    }

    /// Lists all nodes, parents before children.
    public func tree() async throws(ClientError) -> [TreeEntry] { try await decoded(.tree) }

    /// Returns the daemon's counters by name.
    package func stats() async throws(ClientError) -> [String: UInt64] {
        try await decoded(.stats)
    }

    /// Returns the daemon's metrics in the text format of Prometheus.
    package func metrics() async throws(ClientError) -> String { try await decoded(.metrics) }

    /// Returns the daemon's open connections. The daemon allows it to its own user and to root.
    package func clients() async throws(ClientError) -> [ClientEntry] {
        try await decoded(.clients)
    }

    /// Ends a connection of the daemon and returns its figures. The daemon allows it to its own user
    /// and to root.
    package func kick(_ connection: UInt64) async throws(ClientError) -> ClientEntry {
        try await decoded(.kick(connection: connection))
    }

    /// Makes the daemon read its configuration again and apply it, or only compare it. The daemon
    /// allows it to its own user and to root.
    package func reload(isDryRun: Bool) async throws(ClientError) -> ReloadReport {
        try await decoded(.reload(isDryRun: isDryRun))
    }

    /// Makes the daemon hand over to a new process that keeps the connections; clients wait for at
    /// most `pauseMax` milliseconds. The daemon allows it to its own user and to root.
    package func restart(pauseMax: UInt64) async throws(ClientError) -> RestartReport {
        try await decoded(.restart(pauseMax: pauseMax))
    }

    /// Returns the daemon's part in its cluster.
    ///
    /// *Throws*: also if the daemon is in no cluster.
    package func cluster() async throws(ClientError) -> ClusterStatus {
        try await decoded(.cluster)
    }

    /// Makes the daemon hand the leadership of its cluster to the node of this name, or to any
    /// other; returns its part as of the request. The daemon allows it to its own user and to root.
    ///
    /// The daemon closes its connections when it has handed over. If the answer is lost with one, the
    /// client asks again on the next one, and the daemon then refuses with ``FaultCode/elsewhere``.
    ///
    /// *Throws*: also if the daemon does not lead.
    package func stepDown(to node: String?) async throws(ClientError) -> ClusterStatus {
        try await decoded(.stepDown(to: node))
    }

    /// Returns the daemon's latest operations that took long, after the entry with this number. The
    /// daemon allows it to its own user and to root.
    package func slowLog(after number: UInt64) async throws(ClientError) -> [SlowEntry] {
        try await decoded(.slowLog(after: number))
    }

    /// Returns figures of the daemon for a live view. The daemon allows it to its own user and to
    /// root.
    package func activity() async throws(ClientError) -> DaemonActivity {
        try await decoded(.activity)
    }

    /// Returns the daemon's limits by name.
    package func limits() async throws(ClientError) -> [String: UInt64] {
        try await decoded(.limits)
    }

    /// Asks the daemon a question and decodes the answer.
    func decoded<Value: WireCodable & Sendable>(
        _ question: Question
    ) async throws(ClientError) -> Value {
        let bytes = try await answer(question)
        return try Self.read(bytes) { (bytes, cursor) throws(WireError) in
            try Value.decode(bytes, &cursor)
        }
    }

    private func answer(_ question: Question) async throws(ClientError) -> [UInt8] {
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

    // MARK: Many actions

    /// Makes a pipeline that sends many actions to the node at `path`, in order and without waiting
    /// for each.
    ///
    /// `report` is called on the client's thread with the number of each action, from 0, and its
    /// outcome; with `awaitsEffects`, when the action's effects have ended.
    package func pipeline(
        _ path: String, awaitsEffects: Bool = false,
        report: @escaping @Sendable (UInt64, ActionOutcome) -> Void
    ) async throws(ClientError) -> Pipeline {
        try await pipeline([path], awaitsEffects: awaitsEffects, report: report)
    }

    /// Makes a pipeline for the nodes at `paths`; every action has these conditions.
    package func pipeline(
        _ paths: [String], _ conditions: DispatchOptions? = nil, awaitsEffects: Bool = false,
        report: @escaping @Sendable (UInt64, ActionOutcome) -> Void
    ) async throws(ClientError) -> Pipeline {
        var holds: [NodeHold] = []
        for path in paths { holds.append(try await node(at: path)) }
        return Pipeline(port, holds, conditions, awaitsEffects: awaitsEffects, report)
    }

    // MARK: The past

    /// Returns the value of the slice at `path` as it was at a past revision; `nil` if there was no
    /// node at `path` then.
    public func get(
        _ path: String, at revision: Revision
    ) async throws(ClientError) -> (revision: Revision, value: WireValue?) {
        try await value(.past(path: path, at: revision))
    }

    /// Asks the daemon to write a snapshot.
    package func snapshot() async throws(ClientError) -> SnapshotMade {
        try await decoded(.snapshot)
    }

    /// Asks the daemon to copy its history into a new directory on its machine. `directory` is an
    /// absolute path. With `forNode`, the copy is for another daemon of the cluster. The daemon
    /// allows it to its own user and to root.
    package func backup(
        to directory: String, forNode: Bool = false
    ) async throws(ClientError) -> BackupMade {
        try await decoded(.backup(to: directory, forNode: forNode))
    }

    /// Asks the daemon to make a dated backup in a directory on its machine, and to remove older ones
    /// beyond the newest `count`. `folder` is an absolute path.
    package func backup(
        in folder: String, keeping count: UInt64
    ) async throws(ClientError) -> BackupsKept {
        try await decoded(.keepBackup(in: folder, keep: count))
    }

    /// Returns the events at and below `path`, after the mark of an earlier page or from a revision
    /// on. With `waits`, the daemon sends an empty page only after waiting for an event.
    package func log(
        _ path: String, from revision: Revision? = nil, after mark: LogMark? = nil,
        waits: Bool = false
    ) async throws(ClientError) -> LogPage {
        try await decoded(.log(path: path, from: revision, after: mark, waits: waits))
    }

    /// Returns the states at and below `path` as of one revision, page by page. For each next page,
    /// pass the `skip` and the `revision` that the page before returned.
    package func export(
        _ path: String, at revision: Revision? = nil, skip: UInt64 = 0
    ) async throws(ClientError) -> StatePage {
        try await decoded(.export(path: path, at: revision, skip: skip))
    }
}
