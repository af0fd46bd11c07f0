import ReactorThreads

/// Runs Swift actors and tasks on a loop's thread.
///
/// *Place*: an actor returns it as its `unownedExecutor`, or a task prefers it; their jobs run
/// after the I/O of a pass and before its outputs leave.
///
/// Once the loop is closed, jobs run on the thread that enqueues them, still one at a time:
/// a task that outlives its loop ends instead of hanging for ever.
public final class LoopExecutor: SerialExecutor, TaskExecutor {
    private let doorbell: LoopDoorbell
    private let late = LateJobs()

    init(_ doorbell: LoopDoorbell) {
        self.doorbell = doorbell
    }

    /// Queues `job` for the loop's thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !doorbell.post(.swift(job)) {
            late.run(job, on: self)
        }
    }

    /// Runs `job` here and now, under both of the executor's faces.
    func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    /// Keeps late jobs waiting while the closing loop still runs those it has.
    func holdLateJobs() {
        late.hold()
    }

    /// Runs the late jobs that waited; from now on they run where they are enqueued.
    func releaseLateJobs() {
        late.runAll(on: self)
    }

    /// This executor, as an actor's `unownedExecutor` returns it.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// This executor, as a task's preference.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        unsafe UnownedTaskExecutor(ordinary: self)
    }

    /// Whether the caller runs on the loop, so that loop callbacks may assume an actor's isolation.
    public func isIsolatingCurrentContext() -> Bool? {
        doorbell.turning.isCurrent
    }

    /// Traps unless the caller runs on the loop.
    public func checkIsolated() {
        precondition(doorbell.turning.isCurrent, "not on the loop's thread")
    }
}

/// Jobs that came after the loop was closed, run one at a time by whoever brings the first.
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
