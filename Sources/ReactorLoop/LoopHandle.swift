import ReactorThreads

/// A loop's interface for other threads: they post to it, stop it, and run actors on it.
///
/// *Place*: the only type of this module that crosses threads.
public struct LoopHandle: Sendable {
    /// Runs Swift tasks and actors on the loop's thread.
    package let executor: LoopExecutor
    private let doorbell: LoopDoorbell

    init(_ doorbell: LoopDoorbell) {
        self.doorbell = doorbell
        executor = LoopExecutor(doorbell)
    }

    /// Runs `job` on the loop's thread, after the I/O of a pass and before its outputs are sent.
    ///
    /// Jobs of one thread run in the order of posting. Returns false, and drops the job, if the
    /// loop is closed.
    ///
    /// *Cost*: a lock; a system call only for the first job since the loop last drained them, and
    /// none from within a turn.
    @discardableResult
    public func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        doorbell.post(.call(job))
    }

    /// Ends ``EventLoop/run()`` after the current pass. May be called before, during and after it.
    public func stop() {
        doorbell.requestStop()
    }

    /// Whether the caller runs inside a turn of this loop.
    package var isOnLoop: Bool { doorbell.turning.isCurrent }
}
