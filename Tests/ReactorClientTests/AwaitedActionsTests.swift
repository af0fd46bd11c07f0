import ReactorCore
import Testing

@testable import ReactorClient

/// Actions that have an outcome and are not done.
struct AwaitedActionsTests {
    private let applied = ActionOutcome.applied(Revision(epoch: 7, sequence: 1), reply: nil)
    private let ended = ActionOutcome.ownerEnded(Revision(epoch: 7, sequence: 1), reply: nil)

    @Test("F47: who listens is told of the first outcome, and the last one is kept")
    func note() {
        var awaited = AwaitedActions()
        var told: [ActionOutcome] = []
        awaited.add(3) { told.append($0) }
        #expect(awaited.contains(3) && awaited.outcome(of: 3) == nil)
        awaited.note(applied, of: 3)?(applied)
        awaited.note(ended, of: 3)?(ended)
        #expect(told == [applied] && awaited.outcome(of: 3) == ended)
        let listeners = [awaited.remove(3), awaited.note(applied, of: 4)].compactMap { $0 }
        #expect(listeners.isEmpty && awaited.isEmpty && awaited.count == 0)
    }

    @Test("F47: an outcome that the daemon has forgotten meanwhile is remembered here")
    func forgotten() {
        var awaited = AwaitedActions()
        awaited.add(3, nil)
        let forgotten = ActionOutcome.unknown(.forgotten)
        _ = awaited.note(applied, of: 3)
        _ = awaited.note(forgotten, of: 3)
        #expect(awaited.outcome(of: 3) == applied)
        awaited.add(4, nil)
        _ = awaited.note(forgotten, of: 4)
        #expect(awaited.outcome(of: 4) == forgotten)
    }

    @Test("F47: one that is taken out gives back who has not been told")
    func remove() {
        var awaited = AwaitedActions()
        var told: [ActionOutcome] = []
        awaited.add(3) { told.append($0) }
        awaited.shift(by: 10)
        #expect(!awaited.contains(3))
        awaited.remove(13)?(.unknown(.ended))
        #expect(told == [.unknown(.ended)])
    }
}
