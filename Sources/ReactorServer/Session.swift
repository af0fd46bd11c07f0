import ReactorWire

/// A client's identity across its connections, and what became of its actions.
final class Session {
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
    /// When it lost its connection, in nanoseconds; for eviction.
    var disconnectedAt: UInt64 = 0
    /// Actions that were applied without a reply, as runs in ascending order of ordinals.
    private(set) var runs: [AppliedRun] = []
    /// All other outcomes, by ordinal.
    private(set) var exceptions: [UInt64: Outcome] = [:]
    /// Actions whose answer is owed.
    var deferred: Set<UInt64> = []

    init(secret: [UInt8], uid: UInt32, client: UInt64) {
        self.secret = secret
        self.uid = uid
        self.client = client
    }

    /// Whether nothing would be lost with it.
    var isBlank: Bool { ordinal == 0 }

    /// Notes that an action was applied without a reply.
    @inline(__always)
    func noteApplied(_ ordinal: UInt64, sequence: UInt64, max outcomesMax: Int) {
        let last = runs.count &- 1
        if last >= 0, runs[last].isContinued(by: ordinal, sequence) {
            runs[last].count &+= 1
        } else {
            runs.append(AppliedRun(ordinal: ordinal, sequence: sequence, count: 1))
            forgetExcess(outcomesMax)
        }
    }

    /// Notes any other outcome.
    func note(_ outcome: Outcome, of ordinal: UInt64, max outcomesMax: Int) {
        deferred.remove(ordinal)
        exceptions[ordinal] = outcome
        forgetExcess(outcomesMax)
    }

    /// The outcome of an action, if it is remembered.
    func outcome(of ordinal: UInt64) -> Outcome? {
        if let exception = exceptions[ordinal] { return exception }
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].ordinal + runs[middle].count <= ordinal {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < runs.count, runs[low].ordinal <= ordinal else { return nil }
        return .applied(
            sequence: runs[low].sequence + (ordinal - runs[low].ordinal), reply: nil,
            ownerEnded: false)
    }

    /// Forgets outcomes up to `ordinal`: the client has them.
    func confirm(_ ordinal: UInt64) {
        var whole = 0
        while whole < runs.count, runs[whole].ordinal + runs[whole].count <= ordinal + 1 {
            whole += 1
        }
        runs.removeFirst(whole)
        if !exceptions.isEmpty { exceptions = exceptions.filter { $0.key > ordinal } }
    }

    /// Answers all that is owed with "your connection ended".
    func failDeferred(max outcomesMax: Int) {
        for ordinal in deferred.sorted() {
            note(
                .rejected(
                    code: FaultCode.ownerEnded.rawValue,
                    message: "the connection that waited for the answer ended"),
                of: ordinal, max: outcomesMax)
        }
    }

    /// Marks remembered outcomes: what the ended connection owned is gone.
    private func forgetExcess(_ outcomesMax: Int) {
        while runs.count + exceptions.count > outcomesMax {
            let oldest = exceptions.keys.min() ?? UInt64.max
            if let run = runs.first, run.ordinal < oldest {
                runs.removeFirst()
            } else {
                exceptions[oldest] = nil
            }
        }
    }
}

/// Consecutive actions that were applied in consecutive transactions, without a reply.
struct AppliedRun: Equatable {
    /// Ordinal of the first.
    var ordinal: UInt64
    /// Sequence of the first.
    var sequence: UInt64
    var count: UInt64

    @inline(__always)
    func isContinued(by ordinal: UInt64, _ sequence: UInt64) -> Bool {
        self.ordinal &+ count == ordinal && self.sequence &+ count == sequence
    }
}

extension FaultCode {
    /// The connection that would have owned the result ended before there was one.
    static let ownerEnded = FaultCode(rawValue: "OWNER_ENDED")
}
