import ReactorThreads

/// State shared by the sagas of one tree, or of one client: clock, task starter, lock and counters.
///
/// *Owner*: any thread.
package final class SagaRuntime: Sendable {
    // One lock, since a saga's waits, positions and logs change together.
    let lock = Lock()
    /// The clock by which sagas wait.
    package let clock: TreeClock
    /// Starts a saga's task, and returns the function that cancels it.
    let spawn: @Sendable (@escaping @Sendable () async -> Void) -> @Sendable () -> Void
    private let counters = Guarded(Counters())

    private struct Counters: Sendable {
        var sagas = 0
        var lastID: UInt64 = 0
        var dropped: UInt64 = 0
        /// To call when there is room for a saga.
        var whenRoom: (@Sendable () -> Void)?

        var hasRoom: Bool { sagas < CoreLimits.sagasMax }

        mutating func takeWaiting() -> (@Sendable () -> Void)? {
            guard hasRoom else { return nil }
            defer { whenRoom = nil }
            return whenRoom
        }
    }

    /// Takes clock and task starter from an environment.
    package init(_ environment: TreeEnvironment) {
        clock = environment.clock
        spawn = environment.spawn
    }

    /// Number of sagas, forks and handlers that have started and not ended.
    package var sagaCount: Int { counters.withLock { $0.sagas } }

    /// Number of dropped actions that cancelled sagas dispatched.
    package var droppedCount: UInt64 { counters.withLock { $0.dropped } }

    func countDropped() { counters.withLock { $0.dropped &+= 1 } }

    /// A number that is unique here.
    func newID() -> UInt64 {
        counters.withLock { counters in
            counters.lastID += 1
            return counters.lastID
        }
    }

    /// Counts a saga. Returns false beyond the limit.
    func enter() -> Bool {
        counters.withLock { counters in
            counters.sagas += 1
            return counters.sagas <= CoreLimits.sagasMax
        }
    }

    /// Counts the end of a saga.
    func leave() {
        let job = counters.withLock { counters in
            counters.sagas -= 1
            return counters.takeWaiting()
        }
        job?()
    }

    /// Calls `job` once, when there is room for a saga, in place of an earlier job that still waits.
    func whenRoom(_ job: @escaping @Sendable () -> Void) {
        let job = counters.withLock { counters in
            counters.whenRoom = job
            return counters.takeWaiting()
        }
        job?()
    }

    /// Whether `count` more sagas fit the limit.
    func hasRoom(for count: Int) -> Bool { sagaCount + count <= CoreLimits.sagasMax }
}
