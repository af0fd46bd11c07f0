import Testing

@testable import ReactorCore

@Suite("UndoLog")
struct UndoLogTests {
    @Test("steps come back in reverse order, and the end drops them")
    func steps() {
        let log = UndoLog()
        var undone: [Int] = []
        log.begin()
        for number in 1...3 { log.add { undone.append(number) } }
        log.popStep()?()
        log.popStep()?()
        #expect(undone == [3, 2] && log.isRecording)
        log.end()
        #expect(log.popStep() == nil && !log.isRecording && log.invariants())
    }

    @Test("a claim outside of attempts and reversible transactions is kept")
    func keptClaim() {
        let log = UndoLog()
        log.claim { Issue.record("withdrawn") }
        #expect(log.popClaim(after: 0) == nil && log.invariants())
    }

    @Test("a refused attempt withdraws its own claims, not those of the outer attempt")
    func nestedAttempts() {
        let log = UndoLog()
        var withdrawn: [String] = []
        let outer = log.beginAttempt()
        log.claim { withdrawn.append("outer") }
        let inner = log.beginAttempt()
        log.claim { withdrawn.append("inner") }
        while let withdraw = log.popClaim(after: inner) { withdraw() }
        log.endAttempt(after: inner)
        #expect(withdrawn == ["inner"])
        log.endAttempt(after: outer)
        #expect(log.popClaim(after: 0) == nil && log.invariants())
    }

    @Test("in a reversible transaction, a claim is a step")
    func claimAsStep() {
        let log = UndoLog()
        log.begin()
        var isWithdrawn = false
        log.claim { isWithdrawn = true }
        log.popStep()?()
        #expect(isWithdrawn)
        log.end()
    }

    @Test("a refusal is taken once")
    func refusal() {
        let log = UndoLog()
        log.refuse(Rejection("full", "no room"))
        #expect(log.takeRefusal()?.code == "full")
        #expect(log.takeRefusal() == nil)
    }

    @Test("growth is measured between the first change of a node and now")
    func weights() throws {
        let log = UndoLog()
        let tree = Tree(Tally(), epoch: 1)
        log.weigh(tree.root)
        #expect(log.weighGrowth() == (0, 0))
        log.beginWeighing()
        log.weigh(tree.root)
        try tree.send(Tally.Action.spread([1, 1, 1, 1, 1]))
        #expect(log.weighGrowth().growth == 5)
        log.endWeighing()
        #expect(log.weighGrowth() == (0, 0))
    }
}
