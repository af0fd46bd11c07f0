/// The requests of a transaction besides its mutations.
///
/// The turn executes them at the end of the transaction, or drops them with it. *Place*: in a
/// ``Transaction``.
struct Wishes {
    /// Whether the transaction asked for nothing beyond mutations.
    private(set) var isEmpty = true
    /// The reply to the current action.
    private(set) var reply: WireEmbedded?
    /// Whether the answer to the current action follows later.
    private(set) var isReplyDeferred = false
    /// Whether the current action went into a stream.
    private(set) var isAccepted = false
    /// Answers to deferred replies.
    private(set) var answers: [Resolution] = []
    /// Work for the transactions directly after this one.
    private(set) var followers: [FollowerWork] = []
    private(set) var ownerships: [OwnershipFact] = []
    /// Durable tasks to record.
    private(set) var tasks: [TaskFact] = []
    /// Selections of effects to cancel.
    private(set) var cancellations: [EffectCancellation] = []
    /// Single effects to cancel.
    private(set) var cancelled: [EffectID] = []
    /// Nodes that the transaction removes.
    private(set) var leaving: [AnyNode] = []
    /// The changes that derived values have to include.
    private(set) var derived = DerivedWork()

    /// One request.
    enum Request {
        /// Answers the current action with a reply, besides "applied".
        case reply(WireEmbedded)
        /// Answers the current action later.
        case deferredReply
        /// Reports the current action as accepted: it went into a stream.
        case acceptance
        /// Answers an earlier action whose reply was deferred.
        case answer(Resolution)
        /// Dispatches an action after the transaction.
        case follower(FollowerRequest)
        /// Lets a reactor decide, after the transaction, what follows from a part of its decision
        /// that was left out.
        case refusal(FollowerRefusal, asker: UInt32, report: String)
        case ownership(OwnershipFact)
        case task(TaskFact)
        /// Cancels a selection of effects.
        case cancellation(EffectCancellation)
        /// Cancels one effect.
        case end(EffectID)
        /// Makes the removal of a node final.
        case removal(AnyNode)
        /// Brings derived values up to date with a changed node.
        case derivation(AnyNode, [AnyDerivedNode])
        /// Shows a derived value that has changed.
        case changedValue(AnyDerivedNode)
    }

    // Inlined, so that the case costs nothing: the callers name it.
    @inline(__always)
    mutating func request(_ request: Request) {
        isEmpty = false
        switch request {
        case .reply(let reply): self.reply = reply
        case .deferredReply: isReplyDeferred = true
        case .acceptance: isAccepted = true
        case .answer(let resolution): answers.append(resolution)
        case .follower(let request): followers.append(.action(request))
        case .refusal(let refusal, let asker, let report):
            followers.append(.refusal(refusal, asker: asker, report: report))
        case .ownership(let fact): ownerships.append(fact)
        case .task(let fact): tasks.append(fact)
        case .cancellation(let cancellation): cancellations.append(cancellation)
        case .end(let id): cancelled.append(id)
        case .removal(let node): leaving.append(node)
        case .derivation(let node, let values): derived.add(node, values)
        case .changedValue(let value): derived.add(changed: value)
        }
    }

    /// Takes the changes that the derived values do not include.
    mutating func takeChanges() -> ArraySlice<(node: AnyNode, values: [AnyDerivedNode])> {
        derived.isEmpty ? [] : derived.takeChanges()
    }

    /// Drops all requests, and keeps the capacities.
    mutating func clear() {
        defer { assert(invariants()) }
        guard !isEmpty else { return }
        answers.removeAll(keepingCapacity: true)
        followers.removeAll(keepingCapacity: true)
        ownerships.removeAll(keepingCapacity: true)
        tasks.removeAll(keepingCapacity: true)
        cancellations.removeAll(keepingCapacity: true)
        cancelled.removeAll(keepingCapacity: true)
        leaving.removeAll(keepingCapacity: true)
        if !derived.isEmpty { derived = DerivedWork() }
        reply = nil
        isReplyDeferred = false
        isAccepted = false
        isEmpty = true
    }

    /// Empty wishes contain no request.
    func invariants() -> Bool {
        let isBare =
            reply == nil && !isReplyDeferred && !isAccepted && answers.isEmpty
            && followers.isEmpty && ownerships.isEmpty && tasks.isEmpty && cancellations.isEmpty
            && cancelled.isEmpty && leaving.isEmpty && derived.isEmpty
        return isEmpty == isBare
    }
}
