import ReactorThreads

/// Jobs on their way to a store.
final class StoreInbox: Sendable {
    private let mailbox: Mailbox<@Sendable (Tree) -> Void>
    private let waiters = Guarded(Waiters())
    private let isClosed = Flag()

    private struct Waiters: Sendable {
        /// Whether something came that nobody has waited for yet.
        var hasNews = false
        var all: [CheckedContinuation<Void, Never>] = []
    }

    init(wake: @escaping @Sendable () -> Void) {
        mailbox = Mailbox(ring: wake)
    }

    func post(_ job: @escaping @Sendable (Tree) -> Void) {
        mailbox.post(job)
        // because who waits for a job learns by its end that nobody does it
        if isClosed.isUp { _ = mailbox.drain() }
        poke()
    }

    /// The store is gone: drops what waits, and what still comes.
    func close() {
        isClosed.raise()
        _ = mailbox.drain()
    }

    /// Whether nothing waits to be taken.
    var isEmpty: Bool { mailbox.isEmpty }

    func take() -> [@Sendable (Tree) -> Void] { mailbox.drain() }

    /// Wakes those who wait for ``arrival()``.
    func poke() {
        let woken = waiters.withLock { waiters in
            waiters.hasNews = true
            let all = waiters.all
            waiters.all = []
            return all
        }
        for waiter in woken { waiter.resume() }
    }

    /// Waits until something was posted since the last call; not at all in a cancelled task.
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
