import ReactorThreads
import Testing

@Suite("Running a job")
struct UnownedJobRunningTests {
    /// Keeps jobs until the test runs them.
    final class Queue: TaskExecutor {
        let jobs = Guarded<[UnownedJob]>([])

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0.append(job) }
        }
    }

    @Test("a job runs on the caller's thread, as one of its executor")
    func run() {
        let queue = Queue()
        let mark = ThreadMark()
        mark.enter()
        let ran = Guarded<[Bool]>([])
        Task(executorPreference: queue) { ran.withLock { $0.append(mark.isCurrent) } }
        #expect(ran.withLock { $0 } == [])
        for job in queue.jobs.withLock({ $0 }) { job.run(on: queue) }
        #expect(ran.withLock { $0 } == [true])
    }
}
