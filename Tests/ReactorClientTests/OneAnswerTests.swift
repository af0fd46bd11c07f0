import Testing

@testable import ReactorClient

@Suite("OneAnswer", .timeLimit(.minutes(10)))
struct OneAnswerTests {
    @Test("an answer that came first is there when it is waited for")
    func early() async {
        let answer = OneAnswer<Int>()
        answer.give(1)
        answer.give(2)
        #expect(await answer.wait(cancelled: 0) == 1)
    }

    @Test("who waits gets the answer when it comes")
    func late() async {
        let answer = OneAnswer<Int>()
        let waiting = Task { await answer.wait(cancelled: 0) }
        await Task.yield()
        answer.give(3)
        #expect(await waiting.value == 3)
    }

    @Test("who gives up is answered at once, and what comes later is dropped")
    func cancelled() async {
        let answer = OneAnswer<Int>()
        let waiting = Task { await answer.wait(cancelled: 0) }
        waiting.cancel()
        #expect(await waiting.value == 0)
        answer.give(4)
    }

    @Test("an answer that is there counts, also for a task that was cancelled since")
    func bothWays() async {
        let answer = OneAnswer<Int>()
        answer.give(5)
        let gate = Gate()
        let waiting = Task {
            await gate.pass()
            return await answer.wait(cancelled: 0)
        }
        waiting.cancel()
        gate.open()
        #expect(await waiting.value == 5)
    }
}
