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
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            hasRun = true
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return hasRun
    }
}
