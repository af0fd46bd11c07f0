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
    /// Actions to dispatch after the transaction.
    private(set) var followers: [(path: SlicePath, action: WireEmbedded)] = []
    private(set) var ownerships: [OwnershipFact] = []
    /// Durable tasks to record.
    private(set) var tasks: [TaskFact] = []
    /// Selections of effects to cancel.
    private(set) var cancellations: [EffectCancellation] = []
    /// Single effects to cancel.
    private(set) var cancelled: [EffectID] = []
    /// Nodes that the transaction removes.
    private(set) var leaving: [AnyNode] = []

    mutating func reply(with reply: WireEmbedded) {
        isEmpty = false
        self.reply = reply
    }

    mutating func deferReply() {
        isEmpty = false
        isReplyDeferred = true
    }

    mutating func accept() {
        isEmpty = false
        isAccepted = true
    }

    mutating func answer(_ resolution: Resolution) {
        isEmpty = false
        answers.append(resolution)
    }

    /// Adds an action to dispatch after the transaction.
    mutating func follow(_ path: SlicePath, _ action: WireEmbedded) {
        isEmpty = false
        followers.append((path, action))
    }

    mutating func change(_ fact: OwnershipFact) {
        isEmpty = false
        ownerships.append(fact)
    }

    mutating func change(_ fact: TaskFact) {
        isEmpty = false
        tasks.append(fact)
    }

    mutating func cancel(_ cancellation: EffectCancellation) {
        isEmpty = false
        cancellations.append(cancellation)
    }

    mutating func cancel(_ id: EffectID) {
        isEmpty = false
        cancelled.append(id)
    }

    /// Adds a node whose removal becomes final with the transaction.
    mutating func leave(_ node: AnyNode) {
        isEmpty = false
        leaving.append(node)
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
            && cancelled.isEmpty && leaving.isEmpty
        return isEmpty == isBare
    }
}
