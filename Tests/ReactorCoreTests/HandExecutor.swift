import Synchronization

/// Runs tasks when a test says so, on the test's own thread, in the order in which they became ready.
final class HandExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs what is ready, and what becomes ready by that; whether there was anything.
    func run() -> Bool {
        var hasRun = false
        while true {
            // because taking them one by one costs too much with a hundred thousand
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
