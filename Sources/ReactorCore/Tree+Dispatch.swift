/// What became of one dispatched action, inside the tree.
public enum DispatchResult: Sendable {
    /// Applied as the transaction with this sequence.
    case applied(sequence: UInt64)
    /// Applied, and answered.
    case replied(sequence: UInt64, WireEmbedded)
    /// Applied, and in a stream of its reactor: what comes out are transactions of their own.
    case accepted(sequence: UInt64)
    /// Applied; the answer comes later, as a ``Resolution``.
    case deferred(sequence: UInt64)
    /// Nothing was applied.
    case failed(StepFailure)
}

extension DispatchResult {
    /// The transaction that applied the action, if one did.
    public var sequence: UInt64? {
        switch self {
        case .applied(let sequence), .replied(let sequence, _), .accepted(let sequence),
            .deferred(let sequence):
            sequence
        case .failed: nil
        }
    }
}

extension Tree {
    /// Says who sent the actions that ``step(_:_:ordinal:)`` carries out next.
    public func begin(by caller: Caller) {
        turn.caller = caller
        turn.origin = Origin(client: caller.client, ordinal: 0)
    }

    /// Carries out an action of the caller that was named last; answers nil where it was applied and
    /// asked for nothing beyond mutations, and otherwise what became of it.
    ///
    /// *Owner*: `bytes` is lent for the call. *Cost*: the way of nearly all actions, kept short.
    public func step(
        _ node: AnyNode, _ bytes: Span<UInt8>, ordinal: UInt64
    ) -> DispatchResult? {
        var cursor = WireCursor(action: 0)
        turn.origin.ordinal = ordinal
        do throws(StepFailure) {
            try node.step(bytes, &cursor, turn)
        } catch {
            if turn.isEventful { turn.clearRequests() }
            return .failed(error)
        }
        turn.lastSequence &+= 1
        return turn.isEventful ? completeEventful(turn.lastSequence) : nil
    }

    /// Carries out the action that `bytes` are from `offset` to their end, then the followers it
    /// caused. An action that leaves its answer for later is rejected unless `mayWait`.
    ///
    /// *Owner*: `bytes` is lent for the call.
    public func dispatch(
        to node: AnyNode, _ bytes: Span<UInt8>, from offset: Int = 0, by caller: Caller,
        ordinal: UInt64, mayWait: Bool = true
    ) -> DispatchResult {
        var cursor = WireCursor(action: offset)
        turn.caller = caller
        turn.origin = Origin(client: caller.client, ordinal: ordinal)
        if !mayWait { turn.refusesWaits = true }
        do throws(StepFailure) {
            try node.step(bytes, &cursor, turn)
            if !mayWait { turn.refusesWaits = false }
            return complete()
        } catch {
            if !mayWait { turn.refusesWaits = false }
            if turn.isEventful { turn.clearRequests() }
            return .failed(error)
        }
    }

    /// Ends the transaction at hand: gives it its sequence, and runs what it caused.
    func complete() -> DispatchResult {
        turn.lastSequence &+= 1
        let sequence = turn.lastSequence
        if !turn.isEventful { return .applied(sequence: sequence) }
        return completeEventful(sequence)
    }

    private func completeEventful(_ sequence: UInt64) -> DispatchResult {
        let reply = turn.reply
        let isDeferred = turn.isReplyDeferred
        let isAccepted = turn.isAccepted
        turn.settle(depth: 1)
        runFollowers()
        if let reply { return .replied(sequence: sequence, reply) }
        if isDeferred { return .deferred(sequence: sequence) }
        return isAccepted ? .accepted(sequence: sequence) : .applied(sequence: sequence)
    }

    /// Runs queued followers, each a transaction of its own; a follower's followers go behind the
    /// queue.
    func runFollowers() {
        guard !turn.followers.isEmpty else { return }
        var next = 0
        while next < turn.followers.count {
            let follower = turn.followers[next]
            next += 1
            guard follower.depth <= CoreLimits.followerDepthMax, next <= CoreLimits.followersMax
            else {
                turn.reportLoop(loopText(follower, next), of: follower.origin)
                break
            }
            run(follower)
        }
        turn.followers.removeAll(keepingCapacity: true)
    }

    /// Carries out an action that no client waits for, as a transaction of its own; answers whether
    /// it was refused as `BUSY`.
    @discardableResult
    func dispatch(_ action: WireEmbedded, to path: SlicePath, origin: Origin) -> Bool {
        turn.caller = .daemon
        let isBusy = run(
            Turn.Follower(path: path, action: action, origin: origin, depth: 0))
        runFollowers()
        return isBusy
    }

    /// Carries out a follower, and says where it was refused for lack of room.
    @discardableResult
    private func run(_ follower: Turn.Follower) -> Bool {
        turn.origin = follower.origin
        guard let node = node(at: follower.path) else {
            turn.complain("follower to \(follower.path): no such node")
            return false
        }
        var cursor = WireCursor()
        do throws(StepFailure) {
            try node.step(follower.action.bytes.span, &cursor, turn)
            turn.lastSequence &+= 1
            turn.settle(depth: follower.depth + 1)
            return false
        } catch {
            turn.clearRequests()
            turn.complain("follower to \(follower.path): \(error)")
            if case .rejected(let rejection) = error {
                return rejection.code == FaultCode.busy.rawValue
            }
            return false
        }
    }

    private func loopText(_ follower: Turn.Follower, _ ran: Int) -> String {
        "the chain of followers from client \(follower.origin.client) ordinal "
            + "\(follower.origin.ordinal) is cut at depth \(follower.depth), \(ran) in all, "
            + "before \(follower.path)"
    }

    /// Ends a connection: each reactor in which it owned something decides what follows, in a
    /// transaction of its own.
    public func endConnection(_ connection: UInt64) {
        cancelEffects(ofConnection: connection)
        let owned = ownership.take(connection: connection)
        if turn.recordsFacts, !owned.isEmpty {
            turn.news.facts.append(.ownership(.end(connection: connection)))
        }
        for (number, keys) in owned {
            guard let node = node(number) else { continue }
            turn.caller = .daemon
            turn.origin = .daemon
            node.endConnection(Owned(connection: connection, keys: keys), turn)
            finishEmission()
        }
    }
}

extension Tree {
    /// Ends a transaction that no caller waits for.
    func finishEmission() {
        turn.lastSequence &+= 1
        turn.settle(depth: 1)
        runFollowers()
    }
}

// MARK: - Several actions as one transaction
extension Tree {
    /// One action of a batch.
    public struct BatchItem {
        /// The node that the action is for.
        public var node: AnyNode
        /// Where the action's bytes stand in the batch's.
        public var range: Range<Int>

        /// An action of a batch.
        public init(node: AnyNode, range: Range<Int>) {
            self.node = node
            self.range = range
        }
    }

    /// Carries out several actions as one transaction: all of them, or none.
    ///
    /// Each action sees the state that those before it left. The rejection names the index.
    /// `cancel` and `mayWait` are as with a single action, at each node.
    public func transact(
        _ items: [BatchItem], _ bytes: Span<UInt8>, by caller: Caller, ordinal: UInt64,
        cancel: String? = nil, mayWait: Bool = true
    ) -> DispatchResult {
        carryOut(
            items, bytes, by: caller, ordinal: ordinal, cancel: cancel, mayWait: mayWait,
            namesIndex: true
        ) { nil }
    }

    /// Carries out actions as ``transact(_:_:by:ordinal:cancel:)`` does, but only if they make the
    /// states of the tree smaller; otherwise nothing is applied, and `rejection` says why.
    ///
    /// *Cost*: encodes the states that it changes.
    public func transactShrinking(
        _ items: [BatchItem], _ bytes: Span<UInt8>, by caller: Caller, ordinal: UInt64,
        cancel: String? = nil, mayWait: Bool = true, else rejection: Rejection
    ) -> ShrinkResult {
        turn.scales = Scales()
        defer { turn.scales = nil }
        var (workByteCount, growth) = (0, 0)
        let result = carryOut(
            items, bytes, by: caller, ordinal: ordinal, cancel: cancel, mayWait: mayWait,
            namesIndex: items.count > 1
        ) { [turn] in
            growth = turn.scales?.growth() ?? 0
            workByteCount = turn.scales?.workByteCount ?? 0
            return growth < 0 ? nil : rejection
        }
        return ShrinkResult(
            result: result, workByteCount: workByteCount, shrunkByteCount: max(0, -growth))
    }

    /// What became of actions that had to make the tree smaller.
    public struct ShrinkResult: Sendable {
        /// What became of them.
        public var result: DispatchResult
        /// Bytes that were encoded to find out.
        public var workByteCount: Int
        /// By how many bytes the states have become smaller.
        public var shrunkByteCount: Int
    }

    /// `refusal` is asked before the transaction ends, and takes it back by what it answers.
    private func carryOut(
        _ items: [BatchItem], _ bytes: Span<UInt8>, by caller: Caller, ordinal: UInt64,
        cancel: String?, mayWait: Bool, namesIndex: Bool, unless refusal: () -> Rejection?
    ) -> DispatchResult {
        turn.caller = caller
        turn.origin = Origin(client: caller.client, ordinal: ordinal)
        turn.isPlain = false
        if !mayWait { turn.refusesWaits = true }
        let mark = turn.mark
        defer {
            turn.cancelScope = nil
            if !mayWait { turn.refusesWaits = false }
        }
        if let cancel {
            do throws(StepFailure) {
                try enterScope(cancel, at: items)
            } catch {
                turn.isPlain = true
                return .failed(error)
            }
        }
        for (index, item) in items.enumerated() {
            var cursor = WireCursor(action: 0)
            do throws(StepFailure) {
                // because an action before it may have removed the node
                guard !item.node.isGone else {
                    throw .rejected(Rejection(.notFound, "\(item.node.path) is gone"))
                }
                try item.node.step(bytes.extracting(item.range), &cursor, turn)
                if let refusal = turn.refusal { throw .rejected(refusal) }
            } catch {
                turn.rollBack(to: mark)
                turn.isPlain = true
                return .failed(namesIndex ? error.inBatch(at: index) : error)
            }
        }
        if let rejection = refusal() {
            turn.rollBack(to: mark)
            turn.isPlain = true
            return .failed(.rejected(rejection))
        }
        turn.scales = nil
        turn.undo.removeAll()
        // because followers are transactions of their own, and need no way back
        turn.isPlain = true
        turn.cancelScope = nil
        if !mayWait { turn.refusesWaits = false }
        return complete()
    }

    private func enterScope(_ cancel: String, at items: [BatchItem]) throws(StepFailure) {
        try Turn.checkScope(cancel)
        var seen: Set<UInt32> = []
        for item in items where seen.insert(item.node.number).inserted {
            turn.enterScope(cancel, at: item.node)
        }
    }
}

extension StepFailure {
    /// The same failure, told of the action at `index` of a batch.
    fileprivate func inBatch(at index: Int) -> StepFailure {
        switch self {
        case .decode(let error): .decode(error.inside("\(index)"))
        case .rejected(let rejection):
            .rejected(Rejection(rejection.code, "action \(index): \(rejection.message)"))
        }
    }
}
