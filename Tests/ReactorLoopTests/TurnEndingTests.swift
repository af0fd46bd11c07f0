import Testing

@testable import ReactorLoop

@Suite("the ends of turns")
struct TurnEndingTests {
    private final class Ending: TurnEnding {
        var count = 0
        var onEnd: () -> Void = {}

        func endTurn() {
            count += 1
            onEnd()
        }
    }

    @Test("who is listed between two turns is asked once, before the next one waits")
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

    @Test("who is listed within a turn is asked at its end, after the loop's own callback")
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

    @Test("who is listed by an ending is asked in the same turn")
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
