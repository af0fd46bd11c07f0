import ReactorWire
import Testing

@testable import ReactorServer

/// Stored outcomes, tested without a session.
struct SessionOutcomesTests {
    private let refused = Outcome.rejected(code: "no", message: "never")

    private func limits(_ countMax: Int, bytes: Int = .max) -> ServerLimits {
        var limits = ServerLimits()
        limits.outcomesPerSessionMax = countMax
        limits.outcomeBytesPerSessionMax = bytes
        return limits
    }

    private func applied(_ sequence: UInt64) -> Outcome {
        .applied(sequence: sequence, reply: nil, ownerEnded: false)
    }

    @Test("adjacent runs are joined, and each of their outcomes is found")
    func runs() {
        let limits = limits(9)
        var log = SessionOutcomes()
        log.remember(AppliedRun(ordinal: 1, sequence: 5, count: 2), limits.outcomes)
        log.remember(AppliedRun(ordinal: 3, sequence: 7, count: 1), limits.outcomes)
        log.remember(refused, of: 4, limits.outcomes)
        log.remember(AppliedRun(ordinal: 5, sequence: 8, count: 1), limits.outcomes)
        #expect(log.count == 3 && log.allRuns.map(\.count) == [3, 1])
        #expect(
            ((1...6) as ClosedRange<UInt64>).map { log.outcome(of: $0) } == [
                applied(5), applied(6), applied(7), refused, applied(8), nil,
            ])
    }

    @Test("outcomes that the client has are forgotten, and a late outcome finds its place")
    func forgets() {
        let limits = limits(9)
        var log = SessionOutcomes()
        log.remember(refused, of: 4, limits.outcomes)
        log.remember(refused, of: 2, limits.outcomes)
        #expect(log.allExceptions.map(\.ordinal) == [2, 4])
        log.remember(AppliedRun(ordinal: 5, sequence: 8, count: 2), limits.outcomes)
        log.forget(upTo: 5)
        #expect(
            log.outcome(of: 4) == nil && log.outcome(of: 5) == applied(8), "a run goes as a whole")
        log.forget(upTo: 6)
        #expect(log.count == 0 && log.byteCount == 0)
    }

    @Test("beyond the limits the oldest is forgotten first, and the newest is kept, however large")
    func excess() {
        var log = SessionOutcomes()
        let few = limits(2)
        log.remember(AppliedRun(ordinal: 1, sequence: 1, count: 1), few.outcomes)
        log.remember(refused, of: 2, few.outcomes)
        log.remember(AppliedRun(ordinal: 3, sequence: 2, count: 1), few.outcomes)
        log.remember(refused, of: 4, few.outcomes)
        #expect(log.count == 2 && log.outcome(of: 4) == refused && log.outcome(of: 1) == nil)
        let small = limits(9, bytes: 10)
        log.remember(refused, of: 5, small.outcomes)
        #expect(log.allExceptions.map(\.ordinal) == [5])
    }
}
