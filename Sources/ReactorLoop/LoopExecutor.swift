import ReactorThreads

/// Runs Swift actors and tasks on a loop's thread.
///
/// *Place*: an actor returns it as its `unownedExecutor`, or a task prefers it; their jobs run
/// after the I/O of a pass and before its outputs are sent.
///
/// After the loop is closed, jobs run on the thread that enqueues them, still one at a time, so
/// that a task that outlives its loop ends instead of hanging forever.
package final class LoopExecutor: SerialExecutor, TaskExecutor {
    private let doorbell: LoopDoorbell
    private let late = LateJobs()

    init(_ doorbell: LoopDoorbell) {
        self.doorbell = doorbell
    }

    /// Queues `job` for the loop's thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !doorbell.post(.swift(job)) {
            late.run(job, on: self)
        }
    }

    /// Runs `job` now, as both a serial and a task executor.
    func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    /// Keeps late jobs waiting while the closing loop runs its remaining ones.
    func holdLateJobs() {
        late.hold()
    }

    /// Runs the waiting late jobs; later ones run where they are enqueued.
    func releaseLateJobs() {
        late.runAll(on: self)
    }

    /// This executor, as an actor's `unownedExecutor` returns it.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// This executor, as a task's preference.
    package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        unsafe UnownedTaskExecutor(ordinary: self)
    }

    /// Whether the caller runs on the loop, so that callbacks may assume an actor's isolation.
    package func isIsolatingCurrentContext() -> Bool? {
        doorbell.turning.isCurrent
    }

    /// Traps unless the caller runs on the loop.
    package func checkIsolated() {
        precondition(doorbell.turning.isCurrent, "not on the loop's thread")
    }
}

/// Jobs enqueued after the loop was closed; the thread that enqueues the first runs them, one at a
/// time.
private final class LateJobs: @unchecked Sendable {
    private let lock = Lock()
    private var queue: [UnownedJob] = []
    private var isRunning = false

    func run(_ job: UnownedJob, on executor: LoopExecutor) {
        let isFirst = lock.withLock {
            queue.append(job)
            defer { isRunning = true }
            return !isRunning
        }
        if isFirst { runAll(on: executor) }
    }

    func hold() {
        lock.withLock { isRunning = true }
    }

    func runAll(on executor: LoopExecutor) {
        while let next = next() { executor.run(next) }
    }

    private func next() -> UnownedJob? {
        lock.withLock {
            isRunning = !queue.isEmpty
            return isRunning ? queue.removeFirst() : nil
        }
    }
}
