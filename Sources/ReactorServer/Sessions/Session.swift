import ReactorBytes
import ReactorWire

/// A client's identity across its connections, and the outcomes of its actions.
///
/// *Place*: in the ``SessionTable``. An action is new if its ordinal is higher than ``ordinal``.
/// The outcome of an action in ``deferred`` follows in a later transaction. ``invariants()`` states
/// the invariants.
final class Session {
    /// Size of a secret in bytes.
    static let secretBytes = 16
    /// 16 random bytes that only the daemon and the client know.
    let secret: [UInt8]
    /// The user: another uid cannot resume the session.
    let uid: UInt32
    /// The number that other clients see as the origin of its changes.
    let client: UInt64
    /// The current connection; nil while the client is disconnected.
    private(set) var connection: ConnectionID?
    /// The connection of the last action in a row of another daemon, or of a former run.
    private(set) var source: ConnectionID?
    /// Highest ordinal that arrived.
    private(set) var ordinal: UInt64 = 0
    /// Whether the journal has the session.
    private(set) var isStored = false
    /// The first action that was refused for lack of space and that the journal does not have; nil
    /// if the journal has all actions.
    private(set) var unkeptOrdinal: UInt64?
    /// When it lost its connection, in nanoseconds; for eviction.
    private(set) var disconnectedAt: UInt64 = 0
    /// Actions whose answer is owed.
    var deferred: Set<UInt64> {
        @inline(__always) _read { yield deferredOrdinals.value }
    }
    private let deferredOrdinals = Cell<Set<UInt64>>([])
    /// Actions whose client waits for the end of their effects.
    private var awaited = AwaitedEffects()
    /// The highest ordinals that arrived on a connection that has ended, and before the daemon
    /// started; and that were passed on to the leading daemon, whose rows may come later.
    private var former = (ended: UInt64(0), start: UInt64(0), passedOn: UInt64(0))
    /// The outcomes of its actions.
    private let outcomes = Cell(SessionOutcomes())
    /// Actions that were refused while another daemon led, in ascending order.
    private var referred: [ClosedRange<UInt64>] = []
    /// Bytes that it counts among the outcomes of disconnected sessions.
    private(set) var weighedBytes = 0

    init(secret: [UInt8], uid: UInt32, client: UInt64) {
        self.secret = secret
        self.uid = uid
        self.client = client
    }

    /// Whether the session has had no action, so that its loss costs nothing.
    var isBlank: Bool { ordinal == 0 }

    /// Records that an action was passed on to the leading daemon.
    func passOn(_ ordinal: UInt64) { former.passedOn = max(former.passedOn, ordinal) }

    /// Highest ordinal that arrived here, at the leading daemon or on the way to it.
    var usedOrdinal: UInt64 { max(ordinal, former.passedOn) }

    /// Whether its client waits for an answer or for the end of effects.
    var isOwed: Bool { !deferred.isEmpty || awaited.isAsked }

    /// Actions whose client waits for the end of their effects.
    var awaitedCount: Int { awaited.count }

    /// Estimated bytes of the remembered outcomes.
    var outcomeBytes: Int { outcomes.value.byteCount }

    /// The same, added up from the outcomes. *Cost*: O(outcomes).
    var heldOutcomeBytes: Int { outcomes.value.heldByteCount }

    /// Number of runs and exceptions that are remembered.
    var outcomeCount: Int { outcomes.value.count }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            deferred.count > 32 || deferred.allSatisfy { $0 <= ordinal },
            "an action above ordinal \(ordinal) is deferred")
        assert(
            former.ended <= ordinal && former.start <= ordinal,
            "ordinals \(former.ended) and \(former.start) are above \(ordinal)")
        assert(
            connection == nil || weighedBytes == 0,
            "a connected session counts \(weighedBytes) bytes as disconnected")
    }
}

// MARK: - The connection
extension Session {
    /// Assigns a connection to the session.
    func connect(_ id: ConnectionID) {
        precondition(connection == nil, "client \(client) has two connections")
        connection = id
        // The client may send later ones again, and they may be carried out.
        referred = referred.compactMap { range in
            range.lowerBound > ordinal ? nil : range.lowerBound...min(range.upperBound, ordinal)
        }
    }

    /// Records that the session has no connection since `now`, in nanoseconds.
    func disconnect(at now: UInt64 = 0) {
        connection = nil
        disconnectedAt = now
    }

    /// Counts the outcomes among those of disconnected sessions. Returns by how many bytes the
    /// count grew.
    func weigh() -> Int {
        let difference = outcomeBytes - weighedBytes
        weighedBytes = outcomeBytes
        invariants()
        return difference
    }

    /// Stops counting the outcomes among those of disconnected sessions. Returns how many bytes
    /// were counted.
    func unweigh() -> Int {
        defer { weighedBytes = 0 }
        return weighedBytes
    }

    /// Highest ordinal that arrived on a connection that has ended.
    var formerOrdinal: UInt64 { former.ended }

    /// Continues with the connections of a former process, the last of which is open.
    func succeed(formerOrdinal: UInt64) {
        former.ended = min(formerOrdinal, ordinal)
        markStart()
        invariants()
    }

    /// Records that what earlier actions own has ended or is about to, with their connection.
    func endOwners() { former.ended = ordinal }

    /// Records that a row has an action of this connection.
    func redoSource(_ id: ConnectionID) { source = id }

    /// Records that a row has actions up to `ordinal` of a connection; `node` is this daemon. Returns
    /// whether that is a former connection of this daemon, so that what the actions own has ended.
    func hear(_ id: ConnectionID, upTo ordinal: UInt64, at node: UInt8) -> Bool {
        guard id.node == node, id != connection else { return false }
        former.ended = max(former.ended, min(ordinal, self.ordinal))
        return true
    }

    /// Ends what the last connection waited for: deferred actions are rejected.
    func endConnection(_ limits: OutcomeLimits) {
        former.ended = ordinal
        awaited.endConnection()
        for ordinal in deferred.sorted() {
            remember(
                .rejected(
                    code: FaultCode.ownerEnded.rawValue,
                    message: "the connection that waited for the answer ended"),
                of: ordinal, limits)
        }
        invariants()
    }
}

// MARK: - The journal
extension Session {
    /// Records that the journal has the session.
    func markStored() { isStored = true }

    /// Records that the journal does not have an action that was refused for lack of space.
    func markUnkept(_ ordinal: UInt64) { unkeptOrdinal = unkeptOrdinal ?? ordinal }

    /// Takes the first action that the journal does not have; the caller records it and all later
    /// ones.
    func takeUnkept() -> UInt64? {
        defer { unkeptOrdinal = nil }
        return unkeptOrdinal
    }

    /// Records that the daemon starts: actions up to now arrived in earlier runs.
    func markStart() { former.start = ordinal }
}

// MARK: - Actions and outcomes
extension Session {
    /// Records that actions up to `ordinal` have arrived.
    @inline(__always)
    func advance(to ordinal: UInt64) {
        assert(ordinal >= self.ordinal, "ordinal \(ordinal) is behind \(self.ordinal)")
        self.ordinal = ordinal
    }

    /// Whether the answer of an action is deferred.
    func isDeferred(_ ordinal: UInt64) -> Bool { deferred.contains(ordinal) }

    /// Defers the answer of an action to a later transaction.
    func deferAnswer(of ordinal: UInt64) {
        deferredOrdinals.value.insert(ordinal)
        invariants()
    }

    /// Remembers that actions were applied without replies.
    func remember(_ run: AppliedRun, _ limits: OutcomeLimits) {
        outcomes.value.remember(run, limits)
    }

    /// Remembers any other outcome.
    func remember(_ outcome: Outcome, of ordinal: UInt64, _ limits: OutcomeLimits) {
        if !deferred.isEmpty { deferredOrdinals.value.remove(ordinal) }
        outcomes.value.remember(outcome, of: ordinal, limits)
        invariants()
    }

    /// The outcome of an action; nil if it is not remembered.
    ///
    /// An outcome on an earlier connection states that this connection has ended, and with it what
    /// it owned.
    func outcome(of ordinal: UInt64) -> Outcome? {
        guard let outcome = outcomes.value.outcome(of: ordinal) else { return nil }
        guard ordinal <= former.ended, case .applied(let sequence, let reply, _) = outcome else {
            return outcome
        }
        return .applied(sequence: sequence, reply: reply, ownerEnded: true)
    }

    /// Maximum ranges of referred actions that are remembered; above it the oldest is dropped.
    private static let referredMax = 16

    /// Records that a new action was refused, as another daemon leads. The client may come back
    /// without the refusal when this daemon has carried out a later action.
    func refer(_ ordinal: UInt64) {
        if let last = referred.last, last.upperBound + 1 == ordinal {
            referred[referred.count - 1] = last.lowerBound...ordinal
        } else if !wasReferred(ordinal) {
            referred.append(ordinal...ordinal)
            if referred.count > Self.referredMax { referred.removeFirst() }
        }
    }

    /// Whether an action was refused here, as another daemon led, and was never carried out.
    func wasReferred(_ ordinal: UInt64) -> Bool { referred.contains { $0.contains(ordinal) } }

    /// Whether an action was applied by an earlier run of the daemon.
    func wasApplied(beforeStart ordinal: UInt64) -> Bool {
        guard ordinal <= former.start else { return false }
        switch outcome(of: ordinal) {
        case .applied, .accepted: return true
        default: return false
        }
    }

    /// Drops outcomes up to `ordinal`: the client has them.
    func confirm(_ ordinal: UInt64) { outcomes.value.forget(upTo: ordinal) }
}

// MARK: - The end of effects
extension Session {
    /// The actions for the end of whose effects the client waits, in ascending order.
    var awaitedOrdinals: [UInt64] { awaited.asked }

    /// Records that the client waits for the end of an action's effects. Without `isAsked`, it has
    /// no connection here that waits.
    func awaitEffects(of ordinal: UInt64, isAsked: Bool = true) {
        awaited.start(ordinal, isAsked: isAsked)
    }

    /// Whether the effects of an action run whose end the client wanted to learn.
    func awaitsEffects(of ordinal: UInt64) -> Bool { awaited.isRunning(ordinal) }

    /// Records that the process has ended that ran the effects of all actions so far. Returns those
    /// for which the connection waits, in ascending order.
    func loseEffects() -> [UInt64] {
        markStart()
        return awaited.takeRunning()
    }

    /// Records that a new connection waits for the effects of an action; returns whether they run.
    func awaitEffectsAgain(of ordinal: UInt64) -> Bool { awaited.askAgain(for: ordinal) }

    /// Records that the effects of an action have ended; returns whether the client gets the report
    /// now.
    func endEffects(of ordinal: UInt64) -> Bool {
        awaited.stop(ordinal, isAnswerOwed: isDeferred(ordinal))
    }

    /// Records that the answer of an action was sent; returns whether the report of its ended
    /// effects follows.
    func takeEarlyEnd(of ordinal: UInt64) -> Bool { awaited.takeEarlyEnd(of: ordinal) }
}

// MARK: - Recovery
extension Session {
    /// The remembered runs, in ascending order of ordinals.
    var allRuns: [AppliedRun] { outcomes.value.allRuns }

    /// The other remembered outcomes, in ascending order of ordinals.
    var allExceptions: [(ordinal: UInt64, outcome: Outcome)] { outcomes.value.allExceptions }

    /// Replays that actions were applied; what is known is passed over.
    func redo(_ run: AppliedRun, _ limits: OutcomeLimits) {
        guard run.ordinal > ordinal else { return }
        ordinal = run.last
        remember(run, limits)
    }

    /// Replays that an action arrived; its outcome follows.
    func redoArrival(of ordinal: UInt64) {
        guard ordinal > self.ordinal else { return }
        self.ordinal = ordinal
        deferAnswer(of: ordinal)
    }

    /// Replays the outcome of an action, unless it is known.
    func redo(_ outcome: Outcome, of ordinal: UInt64, _ limits: OutcomeLimits) {
        // An action refused while the journal could not write has no recorded arrival.
        if ordinal > self.ordinal { redoArrival(of: ordinal) }
        guard isDeferred(ordinal) else { return }
        if case .applied(let sequence, nil, false) = outcome, ordinal == self.ordinal {
            deferredOrdinals.value.remove(ordinal)
            return remember(
                AppliedRun(ordinal: ordinal, sequence: sequence, count: 1), limits)
        }
        remember(outcome, of: ordinal, limits)
    }

    /// The session as a snapshot stores it.
    var saved: SavedSession {
        SavedSession(
            client: client, secret: secret, uid: uid, ordinal: ordinal,
            runs: allRuns.map {
                SavedSession.Run(ordinal: $0.ordinal, sequence: $0.sequence, count: $0.count)
            },
            exceptions: allExceptions.map {
                SavedSession.Exception(ordinal: $0.ordinal, outcome: $0.outcome)
            }, deferred: deferred.sorted(), source: (connection ?? source)?.rawValue)
    }

    /// Takes over what a snapshot has of the session.
    func restore(_ saved: SavedSession, _ limits: OutcomeLimits) {
        ordinal = saved.ordinal
        source = saved.source.map { ConnectionID($0) }
        for run in saved.runs {
            remember(
                AppliedRun(ordinal: run.ordinal, sequence: run.sequence, count: run.count), limits)
        }
        for exception in saved.exceptions {
            remember(exception.outcome, of: exception.ordinal, limits)
        }
        deferredOrdinals.value = Set(saved.deferred)
        invariants()
    }
}
