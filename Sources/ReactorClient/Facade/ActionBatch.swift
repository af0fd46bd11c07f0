public import ReactorCore

/// The actions of one transaction, for any number of nodes: see
/// ``Client/atomically(if:isPreviewed:awaitsEffects:_:)``.
public struct ActionBatch {
    /// An action and the node that it is for.
    struct Item {
        var path: String
        var action: WireEmbedded
        var target: Target
        /// Shows the action in its mirror; `nil` without a mirror.
        var preview: (@Sendable () -> PreviewTicket?)?
        /// Passes the action by the sagas of its mirror; `nil` without a mirror.
        var passage: Passage?
    }

    /// How the client finds the node of an action.
    enum Target {
        /// A mirror of the client has the node.
        case held(NodeHold)
        /// The node at the item's path. With names, today's first, the daemon's reactor there must
        /// have one of them.
        case path(names: [String])
    }

    /// Runs `submit`, unless a saga's channel has no room for the action. `submit` receives the
    /// function that reports the outcome to the sagas; without room, the closure before it
    /// receives the rejection.
    typealias Passage =
        @Sendable (
            _ refused: (ActionOutcome) -> Void,
            _ submit: (_ report: @escaping (ActionOutcome) -> Void) throws(ClientError) -> Void
        ) throws(ClientError) -> Void

    private(set) var items: [Item] = []
    private let shared: SharedState

    init(of shared: SharedState) { self.shared = shared }

    /// Number of actions so far.
    public var count: Int { items.count }

    /// Adds an action for the node of a mirror.
    ///
    /// *Traps*: with the mirror of another client.
    public mutating func send<R: Reactor>(_ action: R.Action, to mirror: Mirror<R>) {
        precondition(
            mirror.shared === shared, "mirrors of different clients share no transaction")
        let sagas = mirror.sagas
        items.append(
            Item(
                path: mirror.path, action: WireEmbedded(action),
                target: mirror.hold.map { .held($0) } ?? .path(names: []),
                preview: { mirror.preview(action) },
                passage: { (refused, submit) throws(ClientError) in
                    try sagas.pass(action, orElse: refused, submit)
                }))
    }

    /// Adds an action for the reactor at a path of properties: one with its name, as for a mirror.
    public mutating func send<R: Reactor>(_ action: R.Action, to path: ReactorPath<R>) {
        include(
            WireEmbedded(action), to: path.path.description, [R.reactorName] + R.formerNames)
    }

    /// Adds an action of any shape for the node at `path`.
    public mutating func send(_ action: some WireCodable, to path: String) {
        include(WireEmbedded(action), to: path, [])
    }

    private mutating func include(_ action: WireEmbedded, to path: String, _ names: [String]) {
        items.append(Item(path: path, action: action, target: .path(names: names)))
    }
}

extension ActionBatch {
    /// Submits the actions as `outgoing`, and reports the outcome to the sagas of their mirrors.
    static func submission(of items: [Item]) -> ActionPort.Submission {
        let passages = items.enumerated().compactMap { index, item in
            item.passage.map { (index: index, run: $0) }
        }
        return { (client, outgoing, then) throws(ClientError) in
            try pass(passages[...], [], client, outgoing, then)
        }
    }

    private static func pass(
        _ passages: ArraySlice<(index: Int, run: Passage)>, _ reports: [(ActionOutcome) -> Void],
        _ client: ClientMachine, _ outgoing: OutgoingAction,
        _ then: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        let tell = { (outcome: ActionOutcome) in for report in reports { report(outcome) } }
        guard let first = passages.first else {
            return try client.submit(outgoing, then: then, whenKnown: tell)
        }
        let refused = { (outcome: ActionOutcome) in
            var outcome = outcome
            if case .rejected(let rejection) = outcome {
                outcome = .rejected(rejection.inBatch(at: first.index))
            }
            // The sagas of the actions before this one have made room for them.
            tell(outcome)
            outgoing.preview?.settle()
            then(outcome)
        }
        try first.run(refused) { (report) throws(ClientError) in
            try pass(passages.dropFirst(), reports + [report], client, outgoing, then)
        }
    }

    /// Shows the actions in their mirrors, in order; `nil` if none can be shown.
    static func preview(_ items: [Item]) -> PreviewTicket? {
        let tickets = items.compactMap { $0.preview?() }
        guard !tickets.isEmpty else { return nil }
        return PreviewTicket(
            assign: { ordinal in for ticket in tickets { ticket.assign(ordinal) } },
            settle: { for ticket in tickets { ticket.settle() } })
    }
}

/// The outcome of actions that were sent as one transaction.
public struct BatchOutcome: Sendable, Equatable {
    /// The outcome of them all: they have one revision, or none of them was applied.
    public let outcome: ActionOutcome
    /// The action that the daemon refused; `nil` if the actions were applied, or were refused for
    /// another reason, such as a condition.
    public let refused: Refused?

    /// A refused action.
    public struct Refused: Sendable, Equatable {
        /// Its index in the batch, from 0.
        public let index: Int
        /// The path of its node.
        public let path: String
        /// Why it was refused.
        public let rejection: Rejection
    }

    init(_ outcome: ActionOutcome, of items: [ActionBatch.Item]) {
        self.outcome = outcome
        guard case .rejected(let rejection) = outcome, let part = rejection.partOfBatch,
            items.indices.contains(part.index)
        else {
            refused = nil
            return
        }
        refused = Refused(
            index: part.index, path: items[part.index].path, rejection: part.rejection)
    }

    /// The revision, if the actions were applied.
    public var revision: Revision? { outcome.revision }

    /// Returns the revision of actions that were applied.
    ///
    /// *Throws*: ``DispatchError``, which names the index and the path of a refused action.
    @discardableResult
    public func get() throws(DispatchError) -> Revision {
        if let refused {
            let text = "action \(refused.index), to \(refused.path): \(refused.rejection.message)"
            throw .rejected(Rejection(refused.rejection.code, text))
        }
        return try outcome.get().revision
    }
}
