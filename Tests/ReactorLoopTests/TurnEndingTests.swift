import Testing

@testable import ReactorLoop

@Suite("The ends of turns")
struct TurnEndingTests {
    private final class Ending: TurnEnding {
        var count = 0
        var onEnd: () -> Void = {}

        func endTurn() {
            count += 1
            onEnd()
        }
    }

    @Test("an ending listed between two turns is called once, before the next wait")
    func between() throws {
        let loop = try EventLoop()
        let ending = Ending()
        loop.atTurnEnd(ending)
        #expect(ending.count == 0)
        loop.turn(.noWait)
        loop.turn(.noWait)
        #expect(ending.count == 1)
        loop.close()
    }

    @Test("an ending listed within a turn is called at its end, after the loop's own callback")
    func within() throws {
        let loop = try EventLoop()
        let ending = Ending()
        var order: [String] = []
        ending.onEnd = { order.append("listed") }
        loop.onTurnEnd = {
            order.append("own")
            loop.atTurnEnd(ending)
        }
        loop.post {}
        loop.turn(.wait)
        #expect(order == ["own", "listed"])
        loop.onTurnEnd = nil
        loop.close()
    }

    @Test("an ending listed by another ending is called in the same turn")
    func chained() throws {
        let loop = try EventLoop()
        let first = Ending()
        let second = Ending()
        first.onEnd = { loop.atTurnEnd(second) }
        loop.atTurnEnd(first)
        loop.turn(.noWait)
        #expect(second.count == 1)
        loop.close()
    }
}
