import DequeModule
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
    // because nearly every action only makes this run longer, it stands outside the deque
    /// The run of the last plainly applied action; none if its count is 0.
    private var lastRun = AppliedRun(ordinal: 0, sequence: 0, count: 0)
    /// The runs before ``lastRun``, in ascending order of ordinals.
    private var runs = Deque<AppliedRun>()
    /// All other outcomes, in ascending order of ordinals.
    private var exceptions = Deque<Exception>()
    private var exceptionBytes = 0
    /// What it counts among the outcomes of disconnected sessions.
    var weighedBytes = 0

    init(secret: [UInt8], uid: UInt32, client: UInt64) {
        self.secret = secret
        self.uid = uid
        self.client = client
    }

    /// An outcome that is not a plain "applied".
    private struct Exception {
        var ordinal: UInt64
        var outcome: Outcome
    }

    /// Whether nothing would be lost with it.
    var isBlank: Bool { ordinal == 0 }

    /// Whether its client waits for more than has been sent.
    var isOwed: Bool { !deferred.isEmpty || awaited.isAsked }

    /// Bytes that remembering outcomes costs, roughly.
    var outcomeBytes: Int { exceptionBytes + runs.count * MemoryLayout<AppliedRun>.stride }

    /// Runs and exceptions that are remembered.
    var outcomeCount: Int { exceptions.count + runs.count + (lastRun.count > 0 ? 1 : 0) }

    /// Notes that actions were applied without replies.
    func noteApplied(_ run: AppliedRun, _ limits: ServerLimits) {
        if lastRun.isContinued(by: run) {
            lastRun.count &+= run.count
        } else {
            if lastRun.count > 0 { runs.append(lastRun) }
            lastRun = run
            forgetExcess(limits)
        }
    }

    /// Notes any other outcome.
    func note(_ outcome: Outcome, of ordinal: UInt64, _ limits: ServerLimits) {
        if !deferred.isEmpty { deferred.remove(ordinal) }
        let exception = Exception(ordinal: ordinal, outcome: outcome)
        if let last = exceptions.last, last.ordinal > ordinal {
            exceptions.insert(exception, at: exceptionIndex(of: ordinal))
        } else {
            exceptions.append(exception)
        }
        exceptionBytes += outcome.keptBytes
        forgetExcess(limits)
    }

    /// The outcome of an action, if it is remembered.
    ///
    /// What was applied on a connection that has ended is marked so: what it owned is gone.
    func outcome(of ordinal: UInt64) -> Outcome? {
        let index = exceptionIndex(of: ordinal)
        if index < exceptions.count, exceptions[index].ordinal == ordinal {
            return marked(exceptions[index].outcome, ordinal)
        }
        guard let run = run(of: ordinal) else { return nil }
        let sequence = run.sequence + (ordinal - run.ordinal)
        return marked(.applied(sequence: sequence, reply: nil, ownerEnded: false), ordinal)
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

    private func marked(_ outcome: Outcome, _ ordinal: UInt64) -> Outcome {
        guard ordinal <= endedOrdinal, case .applied(let sequence, let reply, _) = outcome else {
            return outcome
        }
        return .applied(sequence: sequence, reply: reply, ownerEnded: true)
    }

    /// Forgets outcomes up to `ordinal`: the client has them.
    func confirm(_ ordinal: UInt64) {
        if lastRun.count > 0, lastRun.last <= ordinal { lastRun.count = 0 }
        while let run = runs.first, run.last <= ordinal { runs.removeFirst() }
        while let exception = exceptions.first, exception.ordinal <= ordinal { forgetException() }
    }

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
    var allRuns: [AppliedRun] { Array(runs) + (lastRun.count > 0 ? [lastRun] : []) }

    /// The other outcomes that are remembered, likewise.
    var allExceptions: [(ordinal: UInt64, outcome: Outcome)] {
        exceptions.map { ($0.ordinal, $0.outcome) }
    }

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
        // because what was refused while nothing could be written is written without its arrival
        if ordinal > self.ordinal { redoArrival(of: ordinal) }
        guard deferred.contains(ordinal) else { return }
        if case .applied(let sequence, nil, false) = outcome, ordinal == self.ordinal {
            deferred.remove(ordinal)
            return noteApplied(
                AppliedRun(ordinal: ordinal, sequence: sequence, count: 1), limits)
        }
        note(outcome, of: ordinal, limits)
    }

    // MARK: Looking up

    /// Index of the first exception at or above `ordinal`.
    private func exceptionIndex(of ordinal: UInt64) -> Int {
        var low = 0
        var high = exceptions.count
        while low < high {
            let middle = (low + high) / 2
            if exceptions[middle].ordinal < ordinal { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func run(of ordinal: UInt64) -> AppliedRun? {
        if lastRun.holds(ordinal) { return lastRun }
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].last < ordinal { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && runs[low].holds(ordinal) ? runs[low] : nil
    }

    // MARK: Forgetting

    private func forgetExcess(_ limits: ServerLimits) {
        while outcomeCount > limits.outcomesPerSessionMax
            || exceptionBytes > limits.outcomeBytesPerSessionMax
        {
            if let run = runs.first, run.ordinal < exceptions.first?.ordinal ?? .max {
                runs.removeFirst()
            } else if exceptions.count > 1 || outcomeCount > limits.outcomesPerSessionMax {
                forgetException()
            } else {
                // because the newest may be larger than all that is kept, and is yet to be read
                return
            }
        }
    }

    private func forgetException() {
        exceptionBytes -= exceptions.removeFirst().outcome.keptBytes
    }
}

/// Consecutive actions that were applied in consecutive transactions, without a reply.
struct AppliedRun: Equatable {
    /// Ordinal of the first.
    var ordinal: UInt64
    /// Sequence of the first.
    var sequence: UInt64
    var count: UInt64

    /// Ordinal of the last, for a run that is not empty.
    // because a peer chooses ordinals, up to the largest number there is
    var last: UInt64 { ordinal &+ (count &- 1) }

    func holds(_ ordinal: UInt64) -> Bool {
        count > 0 && self.ordinal <= ordinal && ordinal <= last
    }

    func isContinued(by other: AppliedRun) -> Bool {
        count > 0 && ordinal &+ count == other.ordinal && sequence &+ count == other.sequence
    }
}

extension Outcome {
    /// Bytes that remembering it costs, roughly.
    var keptBytes: Int {
        switch self {
        case .accepted: 64
        case .applied(_, let reply, _): 64 + (reply?.bytes.count ?? 0)
        case .rejected(let code, let message): 64 + code.utf8.count + message.utf8.count
        case .failed(let message): 64 + message.utf8.count
        }
    }
}
