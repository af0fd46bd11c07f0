import Dispatch
import FoundationEssentials
import ReactorThreads

/// Runs seeds on threads of its own, as many as there are processors.
///
/// The cooperative thread pool has as many threads as processors; computing there for minutes
/// would block all other tests.
enum Apart {
    private static let queues = (0..<max(1, ProcessInfo.processInfo.activeProcessorCount)).map {
        DispatchQueue(label: "simulation \($0)")
    }
    private static let next = Guarded(0)

    /// Runs `body` on one of these threads.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let queue = next.withLock { next in
            next += 1
            return queues[next % queues.count]
        }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}
