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
public final class ManualExecutor: TaskExecutor {
    private let jobs = Guarded<[UnownedJob]>([])

    /// Makes an executor with nothing to do.
    public init() {}

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Whether no job waits.
    public var isIdle: Bool { jobs.withLock { $0.isEmpty } }

    /// Runs the jobs that wait, and those that come of them, in the order in which they came.
    ///
    /// *Traps*: after ``jobsMax`` jobs, for then a task goes round in circles and waits for nothing.
    public func run() {
        var count = 0
        while true {
            let batch = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            if batch.isEmpty { return }
            count += batch.count
            precondition(
                count <= Self.jobsMax, "\(count) jobs and no end: a task waits for nothing")
            for job in batch { job.run(on: self) }
        }
    }

    /// Most jobs of one ``run()``; at more of them it traps.
    static let jobsMax = 1_000_000
}

extension Store {
    /// Lets effects run, and applies what they emit, until nothing but time can bring more.
    public func settle(_ executor: ManualExecutor) {
        repeat {
            executor.run()
            drain()
        } while !executor.isIdle
    }
}
