import CLibUV
import Glibc
import ReactorThreads
import Synchronization

/// What of a loop other threads may touch: the queue of jobs and the bell that wakes it.
///
/// *Owner*: any thread, except where a member says the loop's.
@safe
final class LoopDoorbell: @unchecked Sendable {
    /// Set by the bell, and cleared by the loop when it drains. *Owner*: the loop's thread.
    var isRung = false

    private let lock = Lock()
    private var queue: [LoopJob] = []
    private let isStopRequested = Atomic<Bool>(false)
    // because a send to a closed handle would write to freed memory: nil from then on
    private var bell: UnsafeMutablePointer<uv_async_t>?
    // because a job posted from within a turn needs no system call: 0 between turns
    private let threadInTurn = Atomic<UInt>(0)

    /// Hangs the bell up. *Owner*: the loop, once.
    func open(_ bell: UnsafeMutablePointer<uv_async_t>) {
        unsafe self.bell = unsafe bell
    }

    /// Whether the caller runs inside a turn of the loop.
    var isOnLoop: Bool {
        threadInTurn.load(ordering: .relaxed) == pthread_self()
    }

    /// Marks the calling thread as the one that turns the loop.
    func enterTurn() {
        threadInTurn.store(pthread_self(), ordering: .relaxed)
    }

    /// Ends what ``enterTurn()`` began.
    func leaveTurn() {
        threadInTurn.store(0, ordering: .relaxed)
    }

    /// Queues `job`, and wakes the loop if the queue was empty. Answers false if it is closed.
    func post(_ job: LoopJob) -> Bool {
        let onLoop = isOnLoop
        return lock.withLock {
            guard unsafe bell != nil else { return false }
            queue.append(job)
            if queue.count == 1 {
                if onLoop { isRung = true } else { send() }
            }
            return true
        }
    }

    /// Asks the loop to return from `run()`, and wakes it.
    func requestStop() {
        isStopRequested.store(true, ordering: .releasing)
        lock.withLock { send() }
    }

    /// Whether somebody asked to stop since this was last asked. *Owner*: the loop's thread.
    func takeStopRequest() -> Bool {
        // because a plain load costs nothing, and an exchange each turn would
        isStopRequested.load(ordering: .relaxed)
            && isStopRequested.exchange(false, ordering: .acquiring)
    }

    /// Swaps what is queued into `jobs`, which must be empty. *Owner*: the loop's thread.
    func drain(into jobs: inout [LoopJob]) {
        isRung = false
        lock.withLock { swap(&queue, &jobs) }
    }

    /// Takes the bell down; from now on nothing can be posted. *Owner*: the loop's thread.
    func close() {
        lock.withLock { unsafe bell = nil }
    }

    // because the handle may be closed by the loop at any time, only under the lock
    private func send() {
        if let bell = unsafe bell { unsafe uv_async_send(bell) }
    }
}

/// Something to run on the loop's thread.
enum LoopJob: Sendable {
    /// A closure that somebody posted.
    case call(@Sendable () -> Void)
    /// A piece of a Swift task.
    case swift(UnownedJob)
}
