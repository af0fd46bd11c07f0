import ReactorThreads

/// Jobs posted to a store.
final class StoreInbox: Sendable {
    private let mailbox: Mailbox<@Sendable (Tree) -> Void>
    private let waiters = Guarded(Waiters())
    private let isClosed = Flag()

    private struct Waiters: Sendable {
        /// Whether a job was posted since the last ``arrival()``.
        var hasNews = false
        var all: [CheckedContinuation<Void, Never>] = []
    }

    init(wake: @escaping @Sendable () -> Void) {
        mailbox = Mailbox(ring: wake)
    }

    func post(_ job: @escaping @Sendable (Tree) -> Void) {
        mailbox.post(job)
        // Dropping the job releases what it holds, which informs a caller that waits for it.
        if isClosed.isUp { _ = mailbox.drain() }
        poke()
    }

    /// Drops waiting and later jobs: the store is gone.
    func close() {
        isClosed.raise()
        _ = mailbox.drain()
    }

    /// Whether no job waits.
    var isEmpty: Bool { mailbox.isEmpty }

    func take() -> [@Sendable (Tree) -> Void] { mailbox.drain() }

    /// Wakes the tasks that wait for ``arrival()``.
    func poke() {
        let woken = waiters.withLock { waiters in
            waiters.hasNews = true
            let all = waiters.all
            waiters.all = []
            return all
        }
        for waiter in woken { waiter.resume() }
    }

    /// Waits until a job was posted since the last call; returns at once in a cancelled task.
    nonisolated(nonsending) func arrival() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = waiters.withLock { waiters in
                    if waiters.hasNews || Task.isCancelled {
                        waiters.hasNews = false
                        return true
                    }
                    waiters.all.append(continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            poke()
        }
    }
}
