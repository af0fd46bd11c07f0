import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The outcomes of actions, tested without a server.
struct OutcomeWriterTests {
    private func header(_ ordinal: UInt64, _ flags: FrameFlags = []) -> FrameHeader {
        FrameHeader(kind: .dispatch, flags: flags, number: ordinal)
    }

    @Test("an outcome is sent, stored, and sent again to a client that repeats its action")
    func again() throws {
        let bench = try OrganBench()
        bench.session.advance(to: 2)
        let rejected = DispatchResult.failed(.rejected(Rejection("no", "never")))
        bench.outcomes.conclude(rejected, of: 1, bench.session, bench.connection)
        bench.outcomes.repeatOutcome(header(1), bench.session, to: bench.connection)
        bench.outcomes.repeatOutcome(header(2), bench.session, to: bench.connection)
        let outcomes = try bench.endTurn().map { try $0.decode(Outcome.self) }
        let expected = Outcome.rejected(code: "no", message: "never")
        #expect(outcomes.prefix(2) == [expected, expected])
        guard case .rejected(FaultCode.ordinal.rawValue, _) = outcomes[2] else {
            Issue.record("\(outcomes[2]) for an ordinal that never came")
            return
        }
        #expect(bench.orders.stats.repeats == 2 && bench.orders.stats.rejections == 1)
    }

    @Test("a plain outcome waits in its run")
    func plain() throws {
        let bench = try OrganBench()
        for ordinal in 1...3 as ClosedRange<UInt64> {
            bench.outcomes.conclude(
                .applied(sequence: ordinal + 4), of: ordinal, bench.session, bench.connection)
        }
        let frames = bench.endTurn()
        #expect(frames.map(\.kind) == [.applied] && frames[0].id == 3 && frames[0].number == 1)
        #expect(
            bench.session.outcome(of: 2) == .applied(sequence: 6, reply: nil, ownerEnded: false))
    }

    @Test("W25: an action without effects is done after its outcome")
    func done() throws {
        let bench = try OrganBench()
        bench.outcomes.conclude(
            .applied(sequence: 1), header(1, .awaited), bench.session, bench.connection)
        #expect(bench.endTurn().map(\.kind) == [.applied, .done])
        #expect(!bench.outcomes.isDue)
    }

    @Test("a deferred answer is owed until it comes")
    func deferred() throws {
        let bench = try OrganBench()
        bench.session.advance(to: 1)
        bench.outcomes.conclude(
            .deferred(sequence: 1), header(1, .awaited), bench.session, bench.connection)
        #expect(bench.endTurn().isEmpty && bench.session.isOwed)
        bench.outcomes.repeatOutcome(header(1, .awaited), bench.session, to: bench.connection)
        #expect(bench.endTurn().isEmpty)
    }

    @Test("a session whose client is away remembers its answer, and no connection gets it")
    func away() throws {
        let bench = try OrganBench()
        bench.session.advance(to: 1)
        bench.outcomes.conclude(
            .deferred(sequence: 1), header(1), bench.session, bench.connection)
        bench.sessions.leave(bench.session, at: 5)
        bench.session.endConnection(bench.limits.outcomes)
        #expect(bench.endTurn().isEmpty && !bench.session.isOwed)
        guard case .rejected(FaultCode.ownerEnded.rawValue, _)? = bench.session.outcome(of: 1)
        else {
            Issue.record("the answer is still owed")
            return
        }
        bench.sessions.join(bench.session, ConnectionID(2))
        bench.outcomes.repeatOutcome(header(1), bench.session, to: bench.connection)
        #expect(bench.endTurn().map(\.kind) == [.outcome])
    }
}
