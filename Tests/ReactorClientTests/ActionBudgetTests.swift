import ReactorThreads
import Testing

@testable import ReactorClient

@Suite("ActionBudget", .timeLimit(.minutes(10)))
struct ActionBudgetTests {
    /// Starts a task that reserves bytes, and returns once the task waits.
    private func waiter(
        _ budget: ActionBudget, _ byteCount: Int, _ entered: Notes<Int>
    ) async -> Task<Bool, Never> {
        let count = budget.waitingCount
        let task = Task {
            let isIn = await budget.reserve(byteCount)
            if isIn { entered.add(byteCount) }
            return isIn
        }
        while budget.waitingCount == count { await Task.yield() }
        return task
    }

    @Test("a caller that finds no room waits, first come first served")
    func order() async {
        let budget = ActionBudget(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(budget.tryReserve(6))
        let large = await waiter(budget, 8, entered)
        let small = await waiter(budget, 2, entered)
        // The small reservation would fit, and came later.
        #expect(entered.all == [])
        budget.release(6)
        #expect(await large.value)
        #expect(await small.value)
        #expect(!budget.tryReserve(1))
        budget.release(2)
        budget.release(8)
        #expect(budget.tryReserve(10))
    }

    @Test("a caller whose bytes fit waits behind one whose bytes do not")
    func queue() async {
        let budget = ActionBudget(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(budget.tryReserve(6))
        let large = await waiter(budget, 8, entered)
        #expect(!budget.tryReserve(1))
        budget.release(6)
        #expect(await large.value)
        #expect(budget.tryReserve(1))
    }

    @Test("an action larger than the budget is admitted alone")
    func oversized() async {
        let budget = ActionBudget(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(budget.tryReserve(99))
        let next = await waiter(budget, 1, entered)
        budget.release(99)
        #expect(await next.value)
    }

    @Test("a cancelled caller reserves nothing")
    func cancellation() async {
        let budget = ActionBudget(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(budget.tryReserve(6))
        let waiting = await waiter(budget, 8, entered)
        waiting.cancel()
        #expect(await !waiting.value)
        budget.release(6)
        #expect(budget.tryReserve(10))
    }

    @Test("when the first waiting caller is cancelled, the callers behind it that fit are admitted")
    func cancelledFirst() async {
        let budget = ActionBudget(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(budget.tryReserve(6))
        let large = await waiter(budget, 8, entered)
        let small = await waiter(budget, 2, entered)
        large.cancel()
        #expect(await small.value)
        #expect(await !large.value)
    }

    @Test("a cancellation at the moment of the admission leaves nothing reserved")
    func race() async {
        let budget = ActionBudget(bytesMax: 10)
        let entered = Notes<Int>()
        for _ in 0..<200 {
            #expect(budget.tryReserve(10))
            let waiting = await waiter(budget, 10, entered)
            async let left: Void = budget.release(10)
            waiting.cancel()
            await left
            if await waiting.value { budget.release(10) }
            #expect(budget.tryReserve(10))
            budget.release(10)
        }
    }
}
