import ReactorLoop
import Testing

@Suite struct LoopExecutorTests {
    @Test("many tasks on one loop's actor are all run")
    func runsManyTasks() async throws {
        try await withLoopThread { handle in
            let counter = LoopCounter(handle)
            await withTaskGroup { group in
                for _ in 0..<1_000 { group.addTask { await counter.increment() } }
            }
            #expect(await counter.count == 1_000)
        }
    }

    @Test("a task that prefers the loop runs on it")
    func runsAPreferringTask() async throws {
        try await withLoopThread { handle in
            let isOnLoop = await Task(executorPreference: handle.executor) {
                handle.isOnLoop
            }.value
            #expect(isOnLoop)
        }
    }

    @Test("a job that arrives after the loop has closed still ends")
    func lateJobsEnd() async throws {
        let loop = try EventLoop()
        let counter = LoopCounter(loop.handle)
        loop.close()
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { await counter.increment() } }
        }
        #expect(await counter.count == 100)
    }
}
