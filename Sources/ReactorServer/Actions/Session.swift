import ReactorWire

/// A client's identity across its connections, and what became of its actions.
final class Session {
    /// Bytes of a secret.
    static let secretBytes = 16
    /// 16 random bytes; known to the daemon and that client alone.
    let secret: [UInt8]
    /// Whose it is: another uid cannot take it up.
    let uid: UInt32
    /// The number by which others see the origin of its changes.
    let client: UInt64
    /// The connection that speaks for it now.
    var connection: Connection?
    /// Highest ordinal seen.
    var ordinal: UInt64 = 0
    /// Whether the journal knows of it.
    var isStored = false
    /// The first action that was refused for lack of space and of which the journal does not know;
    /// none if it knows of all.
    var unkeptOrdinal: UInt64?
    /// When it lost its connection, in nanoseconds; for eviction.
    var disconnectedAt: UInt64 = 0
    /// Actions whose answer is owed.
    var deferred: Set<UInt64> = []
    /// Actions whose client is to be told when their effects have ended.
    var awaited = AwaitedEffects()
    /// Highest ordinal that arrived on a connection which has ended since.
    private var endedOrdinal: UInt64 = 0
    /// The last action that came before the daemon was started.
    private var startOrdinal: UInt64 = 0
    /// What became of its actions.
    private var outcomes = SessionOutcomes()
    /// What it counts among the outcomes of disconnected sessions.
    var weighedBytes = 0

    init(secret: [UInt8], uid: UInt32, client: UInt64) {
        self.secret = secret
        self.uid = uid
        self.client = client
    }

    /// Whether nothing would be lost with it.
    var isBlank: Bool { ordinal == 0 }

    /// Whether its client waits for more than has been sent.
    var isOwed: Bool { !deferred.isEmpty || awaited.isAsked }

    /// Bytes that remembering outcomes costs, roughly.
    var outcomeBytes: Int { outcomes.byteCount }

    /// Runs and exceptions that are remembered.
    var outcomeCount: Int { outcomes.count }

    /// Records that actions were applied without replies.
    func noteApplied(_ run: AppliedRun, _ limits: ServerLimits) { outcomes.add(run, limits) }

    /// Records any other outcome.
    func note(_ outcome: Outcome, of ordinal: UInt64, _ limits: ServerLimits) {
        if !deferred.isEmpty { deferred.remove(ordinal) }
        outcomes.add(outcome, of: ordinal, limits)
    }

    /// The outcome of an action, if it is remembered.
    ///
    /// What was applied on a connection that has ended is marked so: what it owned is gone.
    func outcome(of ordinal: UInt64) -> Outcome? {
        guard let outcome = outcomes.find(ordinal) else { return nil }
        guard ordinal <= endedOrdinal, case .applied(let sequence, let reply, _) = outcome else {
            return outcome
        }
        return .applied(sequence: sequence, reply: reply, ownerEnded: true)
    }

    /// The daemon has begun with it.
    func noteStart() { startOrdinal = ordinal }

    /// Whether an action was applied by a daemon that has ended since.
    func wasApplied(beforeStart ordinal: UInt64) -> Bool {
        guard ordinal <= startOrdinal else { return false }
        switch outcome(of: ordinal) {
        case .applied, .accepted: return true
        default: return false
        }
    }

    /// Forgets outcomes up to `ordinal`: the client has them.
    func confirm(_ ordinal: UInt64) { outcomes.forget(upTo: ordinal) }

    /// Takes note that its connection ended: what was owed an answer is answered so.
    func endConnection(_ limits: ServerLimits) {
        endedOrdinal = ordinal
        awaited.endConnection()
        for ordinal in deferred.sorted() {
            note(
                .rejected(
                    code: FaultCode.ownerEnded.rawValue,
                    message: "the connection that waited for the answer ended"),
                of: ordinal, limits)
        }
    }

    // MARK: Recovering

    /// The runs that are remembered, in ascending order of ordinals.
    var allRuns: [AppliedRun] { outcomes.allRuns }

    /// The other outcomes that are remembered, likewise.
    var allExceptions: [(ordinal: UInt64, outcome: Outcome)] { outcomes.allExceptions }

    /// Notes again that actions were applied; what is known already is passed over.
    func redo(_ run: AppliedRun, _ limits: ServerLimits) {
        guard run.ordinal > ordinal else { return }
        ordinal = run.last
        noteApplied(run, limits)
    }

    /// Notes again that an action came; what became of it follows.
    func redoArrival(of ordinal: UInt64) {
        guard ordinal > self.ordinal else { return }
        self.ordinal = ordinal
        deferred.insert(ordinal)
    }

    /// Notes again what became of an action, unless that is known already.
    func redo(_ outcome: Outcome, of ordinal: UInt64, _ limits: ServerLimits) {
        // An action refused while the journal could not write has no recorded arrival.
        if ordinal > self.ordinal { redoArrival(of: ordinal) }
        guard deferred.contains(ordinal) else { return }
        if case .applied(let sequence, nil, false) = outcome, ordinal == self.ordinal {
            deferred.remove(ordinal)
            return noteApplied(
                AppliedRun(ordinal: ordinal, sequence: sequence, count: 1), limits)
        }
        note(outcome, of: ordinal, limits)
    }
}
