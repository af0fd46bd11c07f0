import Testing

@testable import ReactorClient

@Suite("OneAnswer", .timeLimit(.minutes(10)))
struct OneAnswerTests {
    @Test("an early answer is kept for a later wait")
    func early() async {
        let answer = OneAnswer<Int>()
        answer.give(1)
        answer.give(2)
        #expect(await answer.wait(cancelled: 0) == 1)
    }

    @Test("a waiting task gets the answer when it comes")
    func late() async {
        let answer = OneAnswer<Int>()
        let waiting = Task { await answer.wait(cancelled: 0) }
        await Task.yield()
        answer.give(3)
        #expect(await waiting.value == 3)
    }

    @Test("a cancelled wait returns at once, and a later answer is dropped")
    func cancelled() async {
        let answer = OneAnswer<Int>()
        let waiting = Task { await answer.wait(cancelled: 0) }
        waiting.cancel()
        #expect(await waiting.value == 0)
        answer.give(4)
    }

    @Test("an answer that has come counts, even for a task that was cancelled since")
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
