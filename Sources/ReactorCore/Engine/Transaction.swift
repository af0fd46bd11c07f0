/// The transaction in progress: its number, its cause, and its requests.
///
/// *Owner*: a ``Turn``, in a cell without exclusivity checks, since every action reads and writes
/// it.
struct Transaction {
    /// Sequence of the last applied transaction.
    private(set) var lastSequence: UInt64
    /// The sender of the current action.
    private(set) var caller = Caller.daemon
    /// The client and the number of the current action.
    private(set) var origin = Origin.daemon
    /// The name under which a client may cancel the effects of the current action.
    private(set) var cancelScope: CancelScope?
    /// Whether the current action may not defer its answer: its client waits for too many.
    private(set) var refusesWaits = false
    /// Whether the daemon itself sends the current action.
    private(set) var isInternal = false
    /// Whether a previewed decision read information that only the daemon has.
    private(set) var asksDaemon = false
    /// The requests besides mutations.
    var wishes = Wishes()

    init(after sequence: UInt64) { lastSequence = sequence }

    /// Sequence that the transaction gets if it is applied.
    var sequence: UInt64 { lastSequence &+ 1 }

    // MARK: Cause

    /// Sets the cause of what the tree applies next.
    mutating func begin(by caller: consuming Caller, _ origin: Origin) {
        self.caller = caller
        self.origin = origin
        assert(invariants())
    }

    /// Sets the client's action that the tree dispatches next.
    mutating func begin(by caller: consuming Caller, ordinal: UInt64) {
        let origin = Origin(client: caller.client, ordinal: ordinal)
        begin(by: caller, origin)
    }

    /// Sets the number of the next action of the same caller.
    mutating func begin(ordinal: UInt64) {
        origin.ordinal = ordinal
        assert(invariants())
    }

    /// Sets an origin, and keeps the caller.
    mutating func begin(of origin: Origin) {
        self.origin = origin
        assert(invariants())
    }

    /// Gives the effects of the current action a name of their client's; `nil` ends that.
    mutating func name(_ scope: CancelScope?) {
        cancelScope = scope
        assert(invariants())
    }

    /// Sets whether the daemon itself sends the action that the tree dispatches next.
    mutating func setInternal(_ isInternal: Bool) { self.isInternal = isInternal }

    mutating func refuseWaits(_ refusesWaits: Bool) { self.refusesWaits = refusesWaits }

    // MARK: Previews

    mutating func beginPreview() { asksDaemon = false }

    /// Records that the current decision read information that only the daemon has.
    mutating func askDaemon() { asksDaemon = true }

    // MARK: Answers

    mutating func answer(_ ticket: ReplyTicket, reply: WireEmbedded) {
        answer(ticket, with: .applied(sequence: sequence, reply: reply, ownerEnded: false))
    }

    mutating func refuse(_ ticket: ReplyTicket, _ rejection: Rejection) {
        answer(ticket, with: .rejected(code: rejection.code, message: rejection.message))
    }

    private mutating func answer(_ ticket: ReplyTicket, with outcome: Outcome) {
        wishes.request(.answer(Resolution(ticket: ticket, outcome: outcome)))
    }

    // MARK: End

    /// Drops the requests of a part that was refused: `wishes` are those before it.
    mutating func restore(_ wishes: Wishes) {
        self.wishes = wishes
        assert(invariants())
    }

    /// Makes the transaction an applied one. Returns its sequence.
    mutating func assignSequence() -> UInt64 {
        lastSequence &+= 1
        assert(invariants())
        return lastSequence
    }

    /// Continues from `sequence`, which comes from a history.
    mutating func continueHistory(after sequence: UInt64) { lastSequence = sequence }

    /// Only a client's own actions have a name under which that client may cancel their effects.
    func invariants() -> Bool {
        wishes.invariants() && cancelScope.map { $0.client == caller.client } ?? true
    }
}
