import CLibUV
import ReactorThreads

/// What of a loop other threads may touch: the queue of jobs and the bell that wakes it.
///
/// *Owner*: any thread, except where a member says the loop's.
@safe
final class LoopDoorbell: @unchecked Sendable {
    /// Set by the bell, and cleared by the loop when it drains. *Owner*: the loop's thread.
    var isRung = false
    /// Who turns the loop; a job posted from within a turn needs no system call.
    let turning = ThreadMark()
    /// Asks the loop to return from `run()`.
    let stopRequest = Flag()

    private let lock = Lock()
    private var queue: [LoopJob] = []
    private var isClosed = false
    // because a loop woken under the queue's lock would run into it at once: the bell has its own
    private let bellLock = Lock()
    // because a send to a closed handle would write to freed memory: nil from then on
    private var bell: UnsafeMutablePointer<uv_async_t>?

    /// Hangs the bell up. *Owner*: the loop, once.
    func open(_ bell: UnsafeMutablePointer<uv_async_t>) {
        bellLock.withLock { unsafe self.bell = unsafe bell }
    }

    /// Queues `job`, and wakes the loop if the queue was empty. Answers false if it is closed.
    func post(_ job: LoopJob) -> Bool {
        let (isTaken, wasEmpty) = lock.withLock {
            guard !isClosed else { return (false, false) }
            queue.append(job)
            return (true, queue.count == 1)
        }
        if wasEmpty {
            if turning.isCurrent { isRung = true } else { ring() }
        }
        return isTaken
    }

    /// Asks the loop to return from `run()`, and wakes it.
    func requestStop() {
        stopRequest.raise()
        ring()
    }

    /// Swaps what is queued into `jobs`, which must be empty. *Owner*: the loop's thread.
    func drain(into jobs: inout [LoopJob]) {
        isRung = false
        lock.withLock { swap(&queue, &jobs) }
    }

    /// Takes the bell down; from now on nothing can be posted. *Owner*: the loop's thread.
    func close() {
        lock.withLock { isClosed = true }
        bellLock.withLock { unsafe bell = nil }
    }

    private func ring() {
        bellLock.withLock {
            if let bell = unsafe bell { unsafe uv_async_send(bell) }
        }
    }
}

/// Something to run on the loop's thread.
enum LoopJob: Sendable {
    /// A closure that somebody posted.
    case call(@Sendable () -> Void)
    /// A piece of a Swift task.
    case swift(UnownedJob)
}
