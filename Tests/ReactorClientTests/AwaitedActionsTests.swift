import ReactorCore
import Testing

@testable import ReactorClient

/// Actions whose outcome has arrived and whose effects have not ended.
struct AwaitedActionsTests {
    private let applied = ActionOutcome.applied(Revision(epoch: 7, sequence: 1), reply: nil)
    private let ended = ActionOutcome.ownerEnded(Revision(epoch: 7, sequence: 1), reply: nil)

    @Test("F47: the listener gets the first outcome, and the last outcome is kept")
    func keep() {
        var awaited = AwaitedActions()
        var told: [ActionOutcome] = []
        awaited.add(3) { told.append($0) }
        #expect(awaited.contains(3) && awaited.outcome(of: 3) == nil)
        awaited.keep(applied, of: 3)?(applied)
        awaited.keep(ended, of: 3)?(ended)
        #expect(told == [applied] && awaited.outcome(of: 3) == ended)
        let listeners = [awaited.remove(3), awaited.keep(applied, of: 4)].compactMap { $0 }
        #expect(listeners.isEmpty && awaited.isEmpty && awaited.count == 0)
    }

    @Test("F47: the client remembers an outcome that the daemon has forgotten since")
    func forgotten() {
        var awaited = AwaitedActions()
        awaited.add(3, nil)
        let forgotten = ActionOutcome.unknown(.forgotten)
        _ = awaited.keep(applied, of: 3)
        _ = awaited.keep(forgotten, of: 3)
        #expect(awaited.outcome(of: 3) == applied)
        awaited.add(4, nil)
        _ = awaited.keep(forgotten, of: 4)
        #expect(awaited.outcome(of: 4) == forgotten)
    }

    @Test("F47: an action that is taken out returns a listener that was not called")
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
