public import ReactorCore
import ReactorThreads

/// Runs the jobs of tasks on the test's own thread, one after another, when a test calls
/// ``run()``.
///
///     let executor = ManualExecutor()
///     let store = Store(Search(), clock: TreeClock(clock), executor: executor)
///     try store.dispatch(.type("re"))
///     store.settle(executor)
///
/// Jobs run only during ``run()``, and the same jobs run in the same order every time. A task
/// that switches to another executor (an actor with its own, the main actor) returns at an
/// unpredictable time, and ``run()`` does not wait for it.
///
/// When the executor is released, with the store or the daemon that used it, the remaining jobs
/// of cancelled tasks run on the system's threads, so that the tasks end and release what they
/// hold.
public final class ManualExecutor: TaskExecutorHandle {
    private let jobs = ManualJobs()

    /// Creates an executor without jobs.
    public init() {}

    deinit { jobs.close() }

    package var queue: any TaskExecutor { jobs }

    public func enqueue(_ job: consuming ExecutorJob) { jobs.add(job, isDirect: true) }

    /// True if no job waits.
    public var isIdle: Bool { jobs.isEmpty }

    /// Runs the waiting jobs and the jobs they enqueue, in order of arrival.
    ///
    /// *Traps*: after ``jobsMax`` jobs, which indicate a task that loops without waiting.
    public func run() {
        var count = 0
        while true {
            let batch = jobs.take()
            if batch.isEmpty { return }
            count += batch.count
            precondition(
                count <= Self.jobsMax, "\(count) jobs and no end: a task never waits")
            for job in batch {
                // A job must run on the executor that its task prefers.
                if job.isDirect { job.job.run(on: self) } else { job.job.run(on: jobs) }
            }
        }
    }

    /// Maximum number of jobs in one ``run()``; at the limit it traps.
    static let jobsMax = 1_000_000
}

/// The job queue of a ``ManualExecutor``.
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

    /// True if no job waits.
    var isEmpty: Bool { state.withLock { $0.jobs.isEmpty } }

    func enqueue(_ job: consuming ExecutorJob) { add(job, isDirect: false) }

    /// Appends a job; after ``close()``, passes it to the system's executor.
    func add(_ job: consuming ExecutorJob, isDirect: Bool) {
        let job = UnownedJob(job)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.jobs.append(Entry(job: job, isDirect: isDirect)) }
            return state.isClosed
        }
        if isClosed { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Removes and returns the waiting jobs.
    func take() -> [Entry] {
        state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    /// Passes the waiting and all later jobs to the system's executor, because the owner was
    /// released.
    func close() {
        state.withLock { $0.isClosed = true }
        for entry in take() { globalConcurrentExecutor.enqueue(ExecutorJob(entry.job)) }
    }
}

extension Store {
    /// Runs effects and applies the mutations they emit, until only the passing of time can bring
    /// more.
    public func settle(_ executor: ManualExecutor) {
        repeat {
            executor.run()
            drain()
        } while !executor.isIdle || !isDrained
    }
}
