import Synchronization

/// Runs tasks when a test calls it, on the test's own thread, in the order in which they became
/// ready.
final class HandExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs ready jobs until none is left, including jobs that these make ready; returns whether
    /// any ran.
    func run() -> Bool {
        var hasRun = false
        while true {
            // Taking jobs one by one is too slow with a hundred thousand.
            let ready = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            if ready.isEmpty { return hasRun }
            hasRun = true
            for job in ready { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
