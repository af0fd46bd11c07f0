import Dispatch
import FoundationEssentials
import ReactorThreads

/// Where seeds are run: as many at a time as there are processors.
///
/// *Because* the threads on which tests await are as few as the processors: who computes there for
/// minutes keeps all others from being told what they wait for.
enum Apart {
    private static let queues = (0..<max(1, ProcessInfo.processInfo.activeProcessorCount)).map {
        DispatchQueue(label: "simulation \($0)")
    }
    private static let next = Guarded(0)

    /// Runs `body` on a thread of the simulation's own.
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
