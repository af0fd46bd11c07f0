import Testing

@testable import ReactorCore

@Suite("NestingCount")
struct NestingCountTests {
    @Test("nesting ends at the depth limit")
    func depth() {
        var sends = NestingCount(depthMax: 3, countMax: 100)
        let entries = (0...3).map { _ in sends.enter(in: 1) }
        #expect(entries == [true, true, true, false])
        sends.leave()
        let again = sends.enter(in: 1)
        #expect(again)
    }

    @Test("each transaction has its own count")
    func count() {
        var reactions = Nesting().reactions
        for _ in 0..<CoreLimits.reactionsMax {
            guard reactions.enter(in: 1) else { break }
            reactions.leave()
        }
        let (beyond, next) = (reactions.enter(in: 1), reactions.enter(in: 2))
        #expect(!beyond && next && reactions.count == 1)
    }

    @Test("one that was idle does not count")
    func idle() {
        var reactions = Nesting().reactions
        for _ in 0...CoreLimits.reactionsMax {
            let isAdmitted = reactions.enter(in: 1)
            #expect(isAdmitted)
            reactions.leave(wasIdle: true)
        }
        #expect(reactions.count == 0 && reactions.depth == 0)
    }

    @Test("a transaction that was rolled back uses up nothing")
    func restore() {
        var nesting = Nesting()
        _ = nesting.reactions.enter(in: 1)
        _ = nesting.sends.enter(in: 1)
        let earlier = nesting
        for _ in 0..<2 {
            _ = nesting.reactions.enter(in: 1)
            _ = nesting.sends.enter(in: 1)
            nesting.reactions.leave()
            nesting.sends.leave()
        }
        nesting.restore(earlier)
        #expect(nesting.reactions.count == 1 && nesting.reactions.depth == 1)
        #expect(nesting.sends.count == 1 && nesting.sends.depth == 1)
    }
}
