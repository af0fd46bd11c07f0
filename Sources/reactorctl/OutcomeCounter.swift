import ReactorClient
import ReactorWire
import Synchronization

/// Counts sent actions and their outcomes.
final class OutcomeCounter: Sendable {
    private let isEach: Bool
    private let hasSummary: Bool
    private let counts = Mutex(Counts())

    private struct Counts {
        var sent: UInt64 = 0
        var applied: UInt64 = 0
        var rejected: UInt64 = 0
        var failed: UInt64 = 0
        var unknown: UInt64 = 0
        var last: Revision?
        var failure: Failure?
        var closed: Output.Closed?
        /// Whether the counts are final: all outcomes have arrived, or the process ends without
        /// the remaining ones, which count as unknown.
        var isOver = false

        /// Number of outcomes.
        var outcomeCount: UInt64 { applied + rejected + failed + unknown }
    }

    /// Prints each outcome as a line if `isEach` is true; prints a summary if `hasSummary` is true.
    init(isEach: Bool, hasSummary: Bool) {
        self.isEach = isEach
        self.hasSummary = hasSummary
    }

    /// Number of outcomes so far.
    var count: UInt64 { counts.withLock { $0.outcomeCount } }

    /// Whether actions without an outcome remain.
    var isOwed: Bool { counts.withLock { $0.sent > $0.outcomeCount } }

    /// Adds to the number of sent actions.
    func addSent(_ count: UInt64) { counts.withLock { $0.sent += count } }

    /// Counts an outcome, which `line` shows; called on the client's thread, in the order of the
    /// actions.
    func add(_ outcome: ActionOutcome, as line: () -> String) {
        counts.withLock { counts in
            guard !counts.isOver else { return }
            switch outcome {
            case .applied(let revision, _), .ownerEnded(let revision, _),
                .accepted(let revision):
                counts.applied += 1
                counts.last = revision
            case .rejected: counts.rejected += 1
            case .failed: counts.failed += 1
            case .unknown: counts.unknown += 1
            }
            if counts.failure == nil || outcome.isUnknown {
                counts.failure = outcome.failure ?? counts.failure
            }
            guard isEach, counts.closed == nil else { return }
            do throws(Output.Closed) {
                try Output.line(line())
            } catch {
                counts.closed = error
            }
        }
    }

    /// Counts the remaining actions as unknown and prints the summary, for a process that ends
    /// now. Prints the reason too, unless it is nil. Later calls, and later outcomes, do nothing.
    func endEarly(_ reason: String?) {
        counts.withLock { counts in
            guard !counts.isOver else { return }
            counts.isOver = true
            Output.progress("")
            if let reason {
                Output.complain(
                    "\(reason), \(Self.progress(counts)): check the state before you try again")
            }
            counts.unknown += counts.sent - counts.outcomeCount
            // The process ends with another error, so a closed output is not reported.
            if hasSummary { try? Output.line(Self.summary(counts)) }
        }
    }

    /// *Throws*: if the reader of the lines has closed its end.
    func checkOutput() throws(Output.Closed) {
        if let closed = counts.withLock({ $0.closed }) { throw closed }
    }

    /// The first failed outcome, nil if all succeeded. An unknown outcome takes precedence.
    var failure: Failure? { counts.withLock { $0.failure } }

    /// Returns the counts as one line of JSON, for a process that ends with all outcomes. Later
    /// calls of ``endEarly(_:)`` do nothing.
    func finish() -> String {
        counts.withLock { counts in
            counts.isOver = true
            return Self.summary(counts)
        }
    }

    /// The number of sent actions and of outcomes, for an error text.
    var progress: String { counts.withLock { Self.progress($0) } }

    private static func summary(_ counts: Counts) -> String {
        WireValue.json(object: [
            "applied": .number(counts.applied),
            "rejected": .number(counts.rejected),
            "failed": .number(counts.failed),
            "unknown": .number(counts.unknown),
            "revision": counts.last.map { .text($0.description) } ?? .null,
        ])
    }

    private static func progress(_ counts: Counts) -> String {
        "after \(counts.sent) actions were sent and \(counts.outcomeCount) had an outcome"
    }
}
