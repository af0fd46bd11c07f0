/// The result of one dispatched action, inside the tree.
package enum DispatchResult: Sendable {
    /// Applied as the transaction with this sequence.
    case applied(sequence: UInt64)
    /// Applied, with a reply.
    case replied(sequence: UInt64, WireEmbedded)
    /// Applied, and passed to a stream of its reactor, whose outputs are separate transactions.
    case accepted(sequence: UInt64)
    /// Applied; the answer follows later, as a ``Resolution``.
    case deferred(sequence: UInt64)
    /// Nothing was applied.
    case failed(StepFailure)
}

extension DispatchResult {
    /// Sequence of the transaction that applied the action, if it was applied.
    package var sequence: UInt64? {
        switch self {
        case .applied(let sequence), .replied(let sequence, _), .accepted(let sequence),
            .deferred(let sequence):
            sequence
        case .failed: nil
        }
    }
}

extension Tree {
    /// Sets the caller of the actions that ``step(_:_:ordinal:)`` dispatches next.
    package func begin(by caller: consuming Caller) {
        turn.transaction.begin(by: caller, ordinal: 0)
    }

    /// Dispatches an action of the current caller. Returns `nil` if it was applied and asked for
    /// nothing beyond mutations, else its result.
    ///
    /// *Owner*: `bytes` is borrowed for the call. *Cost*: nearly all actions take this path; it is
    /// kept short.
    package func step(
        _ node: AnyNode, _ bytes: Span<UInt8>, ordinal: UInt64
    ) -> DispatchResult? {
        var cursor = WireCursor(action: 0)
        turn.transaction.begin(ordinal: ordinal)
        do throws(StepFailure) {
            try node.step(bytes, &cursor, turn)
        } catch {
            turn.transaction.wishes.clear()
            return .failed(error)
        }
        let sequence = turn.transaction.assignSequence()
        return turn.transaction.wishes.isEmpty ? nil : completeEventful(sequence)
    }

    /// Dispatches the action in `bytes`, from `offset` to the end, then the followers that it
    /// caused. Unless `mayWait`, an action that defers its answer is rejected.
    ///
    /// *Owner*: `bytes` is borrowed for the call.
    package func dispatch(
        to node: AnyNode, _ bytes: Span<UInt8>, from offset: Int = 0, by caller: Caller,
        ordinal: UInt64, mayWait: Bool = true
    ) -> DispatchResult {
        var cursor = WireCursor(action: offset)
        turn.transaction.begin(by: caller, ordinal: ordinal)
        if !mayWait { turn.refuseWaits(true) }
        do throws(StepFailure) {
            try node.step(bytes, &cursor, turn)
            if !mayWait { turn.refuseWaits(false) }
            return complete()
        } catch {
            if !mayWait { turn.refuseWaits(false) }
            turn.transaction.wishes.clear()
            return .failed(error)
        }
    }

    /// Ends the current transaction: assigns its sequence, and settles its requests.
    func complete() -> DispatchResult {
        let sequence = turn.transaction.assignSequence()
        if turn.transaction.wishes.isEmpty { return .applied(sequence: sequence) }
        return completeEventful(sequence)
    }

    private func completeEventful(_ sequence: UInt64) -> DispatchResult {
        let reply = turn.transaction.wishes.reply
        let isDeferred = turn.transaction.wishes.isReplyDeferred
        let isAccepted = turn.transaction.wishes.isAccepted
        turn.settle(depth: 1)
        runFollowers()
        if let reply { return .replied(sequence: sequence, reply) }
        if isDeferred { return .deferred(sequence: sequence) }
        return isAccepted ? .accepted(sequence: sequence) : .applied(sequence: sequence)
    }

    /// Runs queued followers, each as a separate transaction. The followers of a follower go to
    /// the end of the queue.
    func runFollowers() {
        let followers = turn.followers
        while let follower = followers.next() {
            let ranCount = followers.takenCount - 1
            guard follower.depth <= CoreLimits.followerDepthMax,
                ranCount < CoreLimits.followersMax
            else { return cut([follower] + followers.takeRest(), ranCount: ranCount) }
            run(follower)
        }
    }

    /// Dispatches an action that no client waits for, as a separate transaction. Returns whether
    /// it was refused as `BUSY`.
    @discardableResult
    func dispatch(_ action: WireEmbedded, to path: SlicePath, origin: Origin) -> Bool {
        turn.transaction.begin(by: .daemon, origin)
        let request = FollowerRequest(path: path, action: action)
        let isBusy = run(Follower(work: .action(request), origin: origin, depth: 0))
        runFollowers()
        return isBusy
    }

    /// Does the work of a follower. Returns whether it was refused as `BUSY`.
    @discardableResult
    private func run(_ follower: Follower) -> Bool {
        turn.transaction.begin(of: follower.origin)
        switch follower.work {
        case .action(let request): return dispatch(request, depth: follower.depth)
        case .refusal(let refusal, let asker, let report):
            if !inform(asker, of: refusal, depth: follower.depth) { turn.complain(report) }
            return false
        }
    }

    private func dispatch(_ request: FollowerRequest, depth: Int) -> Bool {
        let node: AnyNode
        do throws(MissingNode) {
            node = try target(of: request)
        } catch {
            refuse(request, at: error.path, error.rejection, depth: depth)
            return false
        }
        var cursor = WireCursor()
        turn.transaction.setInternal(true)
        defer { turn.transaction.setInternal(false) }
        do throws(StepFailure) {
            try node.step(request.action.bytes.span, &cursor, turn)
            _ = turn.transaction.assignSequence()
            turn.settle(depth: depth + 1)
            return false
        } catch {
            turn.transaction.wishes.clear()
            let rejection = error.rejection
            refuse(request, at: node.path, rejection, depth: depth)
            return rejection.code == FaultCode.busy.rawValue
        }
    }

    private func target(of request: FollowerRequest) throws(MissingNode) -> AnyNode {
        let found = if let find = request.find { node(try find()) } else { node(at: request.path) }
        guard let found else { throw MissingNode(request.path) }
        return found
    }

    /// The path of the target; where a node is missing, the path of the first missing one.
    private func targetPath(of request: FollowerRequest) -> SlicePath {
        do throws(MissingNode) {
            return try target(of: request).path
        } catch {
            return error.path
        }
    }

    /// Lets the reactor that dispatched a refused follower decide what follows; otherwise logs the
    /// refusal.
    private func refuse(
        _ request: FollowerRequest, at path: SlicePath, _ rejection: Rejection, depth: Int
    ) {
        let refusal = FollowerRefusal(path: path, rejection: rejection, action: request.action)
        if inform(request.asker, of: refusal, depth: depth) { return }
        let asker = request.asker.flatMap { node($0) }.map { "\($0.path): its " } ?? ""
        turn.complain("\(asker)follower to \(path) is refused: \(rejection)")
    }

    /// Lets the reactor of node `asker` decide what follows from a refusal, as a separate
    /// transaction. Returns false if it decides nothing.
    private func inform(_ asker: UInt32?, of refusal: FollowerRefusal, depth: Int) -> Bool {
        guard let asker = asker.flatMap({ node($0) }), asker.followerRejected(refusal, turn) else {
            return false
        }
        _ = turn.transaction.assignSequence()
        turn.settle(depth: depth + 1)
        return true
    }

    /// Refuses the followers that exceed a limit, so that the chain ends. Their reactors decide what
    /// follows; what they dispatch then is dropped.
    private func cut(_ followers: [Follower], ranCount: Int) {
        guard let first = followers.first else { return }
        let text = loopText(first, ranCount: ranCount, leftCount: followers.count)
        turn.reportLoop(text, of: first.origin)
        var droppedCount = 0
        for follower in followers {
            turn.transaction.begin(of: follower.origin)
            switch follower.work {
            case .action(let request):
                let refusal = FollowerRefusal(
                    path: targetPath(of: request), rejection: Rejection(.loop, text),
                    action: request.action)
                _ = inform(request.asker, of: refusal, depth: follower.depth)
            case .refusal(_, _, let report): turn.complain(report)
            }
            droppedCount += turn.followers.takeRest().count
        }
        guard droppedCount > 0 else { return }
        turn.complain(
            "\(FaultCode.loop): \(droppedCount) followers that were dispatched in reply to this cut "
                + "are dropped")
    }

    private func loopText(_ follower: Follower, ranCount: Int, leftCount: Int) -> String {
        "the chain of followers from client \(follower.origin.client) ordinal "
            + "\(follower.origin.ordinal) is cut at depth \(follower.depth), after \(ranCount) of "
            + "them, before \(follower.work.path); \(leftCount) are not run; followerDepthMax is "
            + "\(CoreLimits.followerDepthMax), followersMax is \(CoreLimits.followersMax)"
    }

    /// Ends a connection: each reactor of which it owned a key decides its reaction, in a
    /// transaction of its own.
    package func endConnection(_ connection: UInt64) {
        effects.cancel(ofConnection: connection)
        let owned = ownership.take(connection: connection)
        if !owned.isEmpty { turn.record(.ownership(.end(connection: connection))) }
        for (number, keys) in owned {
            guard let node = node(number) else { continue }
            turn.transaction.begin(by: .daemon, .daemon)
            node.endConnection(OwnedKeys(connection: connection, keys: keys), turn)
            finishEmission()
        }
    }

    /// Takes from a connection what it owns at `node`, `key` alone or every key, as its end would,
    /// in a transaction caused by an action of `caller`.
    package func release(
        _ key: WireKey?, of connection: UInt64, at node: AnyNode, by caller: Caller,
        ordinal: UInt64
    ) -> DispatchResult {
        var keys = ownership.keys(of: connection, at: node.number)
        if let key { keys = keys.filter { $0 == key } }
        guard !keys.isEmpty else {
            let what = key.map { "the key \($0.text.quoted(bytesMax: 64))" } ?? "anything"
            return .failed(
                .rejected(
                    Rejection(
                        .notFound, "\(node.path): connection \(connection) does not own \(what)")))
        }
        turn.transaction.begin(by: .daemon, Origin(client: caller.client, ordinal: ordinal))
        for key in keys {
            turn.transaction.wishes.request(
                .ownership(.disown(node: node.number, key: key, connection: connection)))
        }
        node.endConnection(OwnedKeys(connection: connection, keys: keys), turn)
        return complete()
    }

    /// Ends a transaction that no caller waits for.
    func finishEmission() {
        _ = turn.transaction.assignSequence()
        turn.settle(depth: 1)
        runFollowers()
    }

    // MARK: Several actions as one transaction

    /// One action of a batch.
    package struct BatchItem {
        /// The node that the action is for.
        package var node: AnyNode
        /// The range of the action's bytes in those of the batch.
        package var range: Range<Int>

        /// Makes an action of a batch.
        package init(node: AnyNode, range: Range<Int>) {
            self.node = node
            self.range = range
        }
    }

    /// Applies several actions as one transaction, all or none.
    ///
    /// Each action sees the state that the earlier ones left. A rejection names the action's index.
    /// `cancel` and `mayWait` mean the same as for a single action, at each node.
    package func transact(
        _ items: [BatchItem], _ bytes: Span<UInt8>, by caller: Caller, ordinal: UInt64,
        cancel: String? = nil, mayWait: Bool = true
    ) -> DispatchResult {
        carryOut(
            items, bytes, by: caller, ordinal: ordinal, cancel: cancel, mayWait: mayWait,
            namesIndex: true
        ) { nil }
    }

    /// Like ``transact(_:_:by:ordinal:cancel:)``, but applies the actions only if they make the
    /// states of the tree smaller; otherwise it fails with `rejection`.
    ///
    /// *Cost*: encodes the states that the actions change.
    package func transactShrinking(
        _ items: [BatchItem], _ bytes: Span<UInt8>, by caller: Caller, ordinal: UInt64,
        cancel: String? = nil, mayWait: Bool = true, else rejection: Rejection
    ) -> ShrinkResult {
        turn.undo.beginWeighing()
        defer { turn.undo.endWeighing() }
        var (workByteCount, growth) = (0, 0)
        let result = carryOut(
            items, bytes, by: caller, ordinal: ordinal, cancel: cancel, mayWait: mayWait,
            namesIndex: items.count > 1
        ) { [turn] in
            (growth, workByteCount) = turn.undo.weighGrowth()
            return growth < 0 ? nil : rejection
        }
        return ShrinkResult(
            result: result, workByteCount: workByteCount, shrunkByteCount: max(0, -growth))
    }

    /// The result of actions that had to make the tree smaller.
    package struct ShrinkResult: Sendable {
        /// The result of the dispatch.
        package var result: DispatchResult
        /// Bytes encoded to measure the states.
        package var workByteCount: Int
        /// Number of bytes by which the states shrank.
        package var shrunkByteCount: Int
    }

    /// Calls `refusal` before the transaction ends, and rolls it back if that returns a rejection.
    private func carryOut(
        _ items: [BatchItem], _ bytes: Span<UInt8>, by caller: Caller, ordinal: UInt64,
        cancel: String?, mayWait: Bool, namesIndex: Bool, unless refusal: () -> Rejection?
    ) -> DispatchResult {
        turn.transaction.begin(by: caller, ordinal: ordinal)
        let mark = turn.beginReversible()
        if !mayWait { turn.refuseWaits(true) }
        defer {
            turn.transaction.name(nil)
            if !mayWait { turn.refuseWaits(false) }
        }
        if let cancel {
            do throws(StepFailure) {
                try enterScope(cancel, at: items)
            } catch {
                turn.endReversible()
                return .failed(error)
            }
        }
        for (index, item) in items.enumerated() {
            var cursor = WireCursor(action: 0)
            do throws(StepFailure) {
                // An earlier action of the batch may have removed the node.
                guard !item.node.isGone else {
                    throw .rejected(Rejection(.notFound, "\(item.node.path) is gone"))
                }
                try item.node.step(bytes.extracting(item.range), &cursor, turn)
                if let refusal = turn.undo.refusal { throw .rejected(refusal) }
            } catch {
                turn.rollBack(to: mark)
                return .failed(namesIndex ? error.inBatch(at: index) : error)
            }
        }
        if let rejection = refusal() {
            turn.rollBack(to: mark)
            return .failed(.rejected(rejection))
        }
        turn.undo.endWeighing()
        // Followers are separate transactions, and need no undo steps.
        turn.endReversible()
        turn.transaction.name(nil)
        if !mayWait { turn.refuseWaits(false) }
        return complete()
    }

    private func enterScope(_ cancel: String, at items: [BatchItem]) throws(StepFailure) {
        try Turn.checkScope(cancel)
        var seen: Set<UInt32> = []
        for item in items where seen.insert(item.node.number).inserted {
            turn.enterScope(cancel, at: item.node)
        }
    }

    // MARK: Actions with a cancel id

    /// Like ``dispatch(to:_:from:by:ordinal:)``, for an action whose effects get the name `cancel`;
    /// first cancels the effects that run under that name. With no action bytes after `offset`, it
    /// only cancels.
    package func dispatch(
        to node: AnyNode, _ bytes: Span<UInt8>, from offset: Int, by caller: Caller,
        ordinal: UInt64, cancel: String, mayWait: Bool = true
    ) -> DispatchResult {
        turn.transaction.begin(by: caller, ordinal: ordinal)
        if !mayWait { turn.refuseWaits(true) }
        do throws(StepFailure) {
            try Turn.checkScope(cancel)
            turn.enterScope(cancel, at: node)
            if offset < bytes.count {
                var cursor = WireCursor(action: offset)
                try node.step(bytes, &cursor, turn)
            }
        } catch {
            turn.transaction.name(nil)
            if !mayWait { turn.refuseWaits(false) }
            turn.transaction.wishes.clear()
            return .failed(error)
        }
        turn.transaction.name(nil)
        if !mayWait { turn.refuseWaits(false) }
        return complete()
    }

    // MARK: Actions of the process itself

    /// Dispatches an action whose sender does not wait; a rejection goes to the log.
    func dispatch<R: Reactor>(waiting action: R.Action, to node: Node<R>) {
        do throws(Rejection) {
            try dispatch(action, to: node)
        } catch {
            turn.complain("\(node.path): an action that waited was refused: \(error)")
        }
    }

    /// Dispatches an action of the process itself, then its followers.
    func dispatch<R: Reactor>(_ action: R.Action, to node: Node<R>) throws(Rejection) {
        turn.transaction.begin(by: .daemon, .daemon)
        do throws(Rejection) {
            try R._carryOut(action, node, turn)
        } catch {
            turn.transaction.wishes.clear()
            throw error
        }
        finishEmission()
    }

    /// Applies a mutation of a node as a transaction of the daemon's own, without calling `mutate`;
    /// for the process that owns the tree.
    package func inject<R: Reactor>(_ mutation: R.Mutation, into node: Node<R>) {
        turn.transaction.begin(by: .daemon, .daemon)
        node.inject(mutation, turn)
        finishEmission()
    }
}

extension StepFailure {
    /// The rejection; bytes that are no action of the reactor are one as well.
    var rejection: Rejection {
        switch self {
        case .decode(let error): Rejection(.decode, "\(error)")
        case .rejected(let rejection): rejection
        }
    }

    /// The same failure, with the index of the action in its batch.
    fileprivate func inBatch(at index: Int) -> StepFailure {
        switch self {
        case .decode(let error): .rejected(Rejection(.decode, "\(error)").inBatch(at: index))
        case .rejected(let rejection): .rejected(rejection.inBatch(at: index))
        }
    }
}
