import Glibc
import ReactorLoop
import ReactorThreads
import Testing

@Suite struct LoopExecutorTests {
    @Test("an actor that names the loop as its executor runs on the loop's thread")
    func runsAnActor() async throws {
        try await withLoopThread { handle in
            let counter = LoopCounter(handle)
            for _ in 0..<1_000 { await counter.increment() }
            #expect(await counter.count == 1_000)
            #expect(await counter.isOnLoop)
        }
    }

    @Test("many tasks on one loop's actor lose no turn")
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

    @Test("a loop callback may assume the isolation of an actor of the loop")
    func callbacksAssumeIsolation() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let counter = LoopCounter(loop.handle)
        let timer = try LoopTimer(on: loop)
        var count = 0
        timer.onFire = { count = counter.assumeIsolated { $0.incremented() } }
        timer.start(after: .zero)
        try loop.turn { count == 1 }
    }

    @Test("a job that comes after the loop closed still ends")
    func lateJobsEnd() async throws {
        let loop = try EventLoop()
        let counter = LoopCounter(loop.handle)
        loop.close()
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { await counter.increment() } }
        }
        #expect(await counter.count == 100)
    }

    /// Runs `body` beside a loop on a thread of its own.
    private func withLoopThread(
        _ body: (LoopHandle) async throws -> Void
    ) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: LoopHandle.self)
        let thread = try WorkThread(name: "loop") {
            guard let loop = try? EventLoop() else { return continuation.finish() }
            continuation.yield(loop.handle)
            loop.run()
            loop.close()
            continuation.finish()
        }
        var handles = stream.makeAsyncIterator()
        let handle = try #require(await handles.next())
        try await body(handle)
        handle.stop()
        _ = await handles.next()
        thread.join()
    }
}

/// Counts on its loop.
actor LoopCounter: LoopActor {
    nonisolated let loopHandle: LoopHandle
    private(set) var count = 0

    init(_ loopHandle: LoopHandle) {
        self.loopHandle = loopHandle
    }

    var isOnLoop: Bool { loopHandle.isOnLoop }

    func increment() { count += 1 }

    func incremented() -> Int {
        count += 1
        return count
    }
}
