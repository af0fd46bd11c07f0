import CLibUV
import ReactorThreads

/// The part of a loop that other threads use: the queue of jobs, and the bell that wakes the loop.
///
/// *Owner*: any thread, unless a member states the loop's.
@safe
final class LoopDoorbell: @unchecked Sendable {
    /// Set by the bell, and cleared by the loop when it drains. *Owner*: the loop's thread.
    private(set) var isRung = false
    /// The thread inside a turn; posting from it needs no system call.
    let turning = ThreadMark()
    /// Asks the loop to return from `run()`.
    let stopRequest = Flag()

    private let lock = Lock()
    private var queue: [LoopJob] = []
    private var isClosed = false
    // Separate from the queue's lock, which the woken loop would contend for at once.
    private let bellLock = Lock()
    // `nil` once the handle is closed: a send would write to freed memory.
    private var bell: UnsafeMutablePointer<uv_async_t>?

    /// Records that the calling thread enters a turn. *Owner*: the loop.
    func beginTurn() { turning.enter() }

    /// Records that the turn has ended. *Owner*: the loop's thread.
    func endTurn() { turning.leave() }

    /// Stores the bell. *Owner*: the loop, once.
    func open(_ bell: UnsafeMutablePointer<uv_async_t>) {
        bellLock.withLock { unsafe self.bell = unsafe bell }
    }

    /// Queues `job`, and wakes the loop if the queue was empty. Returns false if the loop is
    /// closed.
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

    /// Swaps the queue into `jobs`, which must be empty. *Owner*: the loop's thread.
    func drain(into jobs: inout [LoopJob]) {
        isRung = false
        lock.withLock { swap(&queue, &jobs) }
    }

    /// Records that the bell woke the loop. *Owner*: the loop's thread.
    func didRing() { isRung = true }

    /// Removes the bell; later posts are refused. *Owner*: the loop's thread.
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

/// A job for the loop's thread.
enum LoopJob: Sendable {
    /// A posted closure.
    case call(@Sendable () -> Void)
    /// A piece of a Swift task.
    case swift(UnownedJob)
}
