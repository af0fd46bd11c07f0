public import ReactorCore
import ReactorThreads

/// Runs the jobs of tasks when a test says so, one after another, on the test's own thread.
///
///     let executor = ManualExecutor()
///     let store = Store(Search(), clock: TreeClock(clock), executor: executor)
///     try store.dispatch(.type("re"))
///     store.settle(executor)
///
/// Nothing happens between two calls of ``run()``, and the same jobs run in the same order every
/// time. What leaves the executor (an actor with one of its own, the main actor) comes back when it
/// pleases, and is not waited for.
///
/// When the executor goes, with the store or the daemon that ran on it, what was cancelled and has
/// not ended ends on the threads of the system, and with it goes all that it held.
public final class ManualExecutor: TaskExecutorHandle {
    private let jobs = ManualJobs()

    /// Makes an executor with nothing to do.
    public init() {}

    deinit { jobs.close() }

    package var queue: any TaskExecutor { jobs }

    public func enqueue(_ job: consuming ExecutorJob) { jobs.add(job, isDirect: true) }

    /// Whether no job waits.
    public var isIdle: Bool { jobs.isEmpty }

    /// Runs the jobs that wait, and those that come of them, in the order in which they came.
    ///
    /// *Traps*: after ``jobsMax`` jobs, for then a task goes round in circles and waits for nothing.
    public func run() {
        var count = 0
        while true {
            let batch = jobs.take()
            if batch.isEmpty { return }
            count += batch.count
            precondition(
                count <= Self.jobsMax, "\(count) jobs and no end: a task waits for nothing")
            for job in batch {
                // A job has to find itself on the executor that its task prefers.
                if job.isDirect { job.job.run(on: self) } else { job.job.run(on: jobs) }
            }
        }
    }

    /// Most jobs of one ``run()``; at more of them it traps.
    static let jobsMax = 1_000_000
}

/// The jobs of a ``ManualExecutor``, for as long as there is one.
private final class ManualJobs: TaskExecutor {
    private let state = Guarded(State())

    private struct State: Sendable {
        var jobs: [Entry] = []
        var isClosed = false
    }

    /// A job, and whether its task prefers the executor itself.
    struct Entry: Sendable {
        var job: UnownedJob
        var isDirect: Bool
    }

    /// Whether no job waits.
    var isEmpty: Bool { state.withLock { $0.jobs.isEmpty } }

    func enqueue(_ job: consuming ExecutorJob) { add(job, isDirect: false) }

    /// Adds a job behind the others; hands it to the system once the user is gone.
    func add(_ job: consuming ExecutorJob, isDirect: Bool) {
        let job = UnownedJob(job)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.jobs.append(Entry(job: job, isDirect: isDirect)) }
            return state.isClosed
        }
        if isClosed { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Takes what waits.
    func take() -> [Entry] {
        state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    /// Hands over what waits, and what comes, to the system, because its user is gone.
    func close() {
        state.withLock { $0.isClosed = true }
        for entry in take() { globalConcurrentExecutor.enqueue(ExecutorJob(entry.job)) }
    }
}

extension Store {
    /// Lets effects run, and applies what they emit, until nothing but time can bring more.
    public func settle(_ executor: ManualExecutor) {
        repeat {
            executor.run()
            drain()
        } while !executor.isIdle || !isDrained
    }
}
