import Testing

@testable import ReactorCore

@Suite("ReactionCount")
struct ReactionCountTests {
    @Test("nested reactions end at the depth limit")
    func depth() {
        var reactions = ReactionCount()
        let entries = (0...CoreLimits.reactionDepthMax).map { _ in reactions.enter(in: 1) }
        #expect(entries.count { $0 } == CoreLimits.reactionDepthMax && entries.last == false)
        reactions.leave()
        let again = reactions.enter(in: 1)
        #expect(again)
    }

    @Test("each transaction counts its own reactions")
    func count() {
        var reactions = ReactionCount()
        for _ in 0..<CoreLimits.reactionsMax {
            guard reactions.enter(in: 1) else { break }
            reactions.leave()
        }
        let (beyond, next) = (reactions.enter(in: 1), reactions.enter(in: 2))
        #expect(!beyond && next && reactions.count == 1)
    }

    @Test("a transaction that was rolled back uses up no reactions")
    func restore() {
        var reactions = ReactionCount()
        _ = reactions.enter(in: 1)
        let earlier = reactions
        _ = reactions.enter(in: 1)
        reactions.leave()
        reactions.restore(earlier)
        #expect(reactions.count == 1 && reactions.depth == 1)
    }
}
