import ReactorLoop
import ReactorThreads
import Testing

/// A counter isolated to its loop.
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

/// Runs `body` while a loop runs on its own thread.
func withLoopThread(_ body: (LoopHandle) async throws -> Void) async throws {
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
