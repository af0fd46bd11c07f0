import DequeModule
import ReactorWire

/// The outcomes of a session's actions: runs of plain "applied" outcomes, and the others
/// individually.
///
/// *Place*: in a ``Session``. *Shape*: runs and exceptions are each in ascending order of ordinals;
/// only the last run may be empty. Outcomes that the client has confirmed are dropped; beyond the
/// limits, so are the oldest. ``invariants()`` states the invariants.
struct SessionOutcomes {
    // Maximum number of actions only extend this run, so it is stored outside the deque.
    /// The run of the last action with a plain outcome; none if its count is 0.
    private var lastRun = AppliedRun(ordinal: 0, sequence: 0, count: 0)
    /// The runs before ``lastRun``.
    private var runs = Deque<AppliedRun>()
    /// All other outcomes.
    private var exceptions = Deque<Exception>()
    private var exceptionBytes = 0

    /// An outcome that is not a plain "applied".
    private struct Exception {
        var ordinal: UInt64
        var outcome: Outcome
    }

    /// Estimated bytes of the outcomes.
    var byteCount: Int { exceptionBytes + runs.count * MemoryLayout<AppliedRun>.stride }

    /// The same, added up. *Cost*: O(outcomes).
    var heldByteCount: Int {
        exceptions.reduce(runs.count * MemoryLayout<AppliedRun>.stride) {
            $0 + $1.outcome.keptBytes
        }
    }

    /// Number of runs and exceptions.
    var count: Int { exceptions.count + runs.count + (lastRun.count > 0 ? 1 : 0) }

    /// The runs, in ascending order of ordinals.
    var allRuns: [AppliedRun] { Array(runs) + (lastRun.count > 0 ? [lastRun] : []) }

    /// The other outcomes, in ascending order of ordinals.
    var allExceptions: [(ordinal: UInt64, outcome: Outcome)] {
        exceptions.map { ($0.ordinal, $0.outcome) }
    }

    /// Remembers actions that were applied without replies.
    mutating func remember(_ run: AppliedRun, _ limits: OutcomeLimits) {
        if lastRun.isContinued(by: run) {
            lastRun.count &+= run.count
        } else {
            if lastRun.count > 0 { runs.append(lastRun) }
            lastRun = run
            forgetExcess(limits)
        }
    }

    /// Remembers any other outcome.
    mutating func remember(_ outcome: Outcome, of ordinal: UInt64, _ limits: OutcomeLimits) {
        let exception = Exception(ordinal: ordinal, outcome: outcome)
        if let last = exceptions.last, last.ordinal > ordinal {
            exceptions.insert(exception, at: exceptionIndex(of: ordinal))
        } else {
            exceptions.append(exception)
        }
        exceptionBytes += outcome.keptBytes
        forgetExcess(limits)
        invariants()
    }

    /// The outcome of an action; nil if it is not remembered.
    func outcome(of ordinal: UInt64) -> Outcome? {
        let index = exceptionIndex(of: ordinal)
        if index < exceptions.count, exceptions[index].ordinal == ordinal {
            return exceptions[index].outcome
        }
        guard let run = run(of: ordinal) else { return nil }
        let sequence = run.sequence + (ordinal - run.ordinal)
        return .applied(sequence: sequence, reply: nil, ownerEnded: false)
    }

    /// Drops outcomes up to `ordinal`.
    mutating func forget(upTo ordinal: UInt64) {
        if lastRun.count > 0, lastRun.last <= ordinal { lastRun.count = 0 }
        while let run = runs.first, run.last <= ordinal { runs.removeFirst() }
        while let exception = exceptions.first, exception.ordinal <= ordinal { forgetException() }
        invariants()
    }

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

    private mutating func forgetExcess(_ limits: OutcomeLimits) {
        while count > limits.countMax
            || exceptionBytes > limits.byteCountMax
        {
            if let run = runs.first, run.ordinal < exceptions.first?.ordinal ?? .max {
                runs.removeFirst()
            } else if exceptions.count > 1 || count > limits.countMax {
                forgetException()
            } else {
                // The newest outcome may exceed the limit alone, and its client has not read it
                // yet.
                return
            }
        }
    }

    private mutating func forgetException() {
        exceptionBytes -= exceptions.removeFirst().outcome.keptBytes
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(exceptionBytes >= 0 && (exceptionBytes == 0) == exceptions.isEmpty)
        assert(
            exceptions.count > 32
                || zip(exceptions, exceptions.dropFirst()).allSatisfy { $0.ordinal <= $1.ordinal },
            "outcomes are out of order")
    }
}

/// How many outcomes a session remembers.
struct OutcomeLimits {
    /// Maximum number of runs and exceptions; above it the oldest are dropped.
    let countMax: Int
    /// Maximum number of bytes of exceptions; above it the oldest are dropped, but not the newest.
    let byteCountMax: Int
}

extension ServerLimits {
    /// How many outcomes a session remembers.
    // Two words: the limits as a whole are fifty, and would be copied for each call.
    var outcomes: OutcomeLimits {
        OutcomeLimits(countMax: outcomesPerSessionMax, byteCountMax: outcomeBytesPerSessionMax)
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
    // A client chooses its ordinals, up to the largest number.
    var last: UInt64 { ordinal &+ (count &- 1) }

    func holds(_ ordinal: UInt64) -> Bool {
        count > 0 && self.ordinal <= ordinal && ordinal <= last
    }

    func isContinued(by other: AppliedRun) -> Bool {
        count > 0 && ordinal &+ count == other.ordinal && sequence &+ count == other.sequence
    }
}

extension Outcome {
    /// Estimated bytes of a remembered outcome.
    var keptBytes: Int {
        switch self {
        case .accepted: 64
        case .applied(_, let reply, _): 64 + (reply?.bytes.count ?? 0)
        case .rejected(let code, let message): 64 + code.utf8.count + message.utf8.count
        case .failed(let message): 64 + message.utf8.count
        }
    }
}
