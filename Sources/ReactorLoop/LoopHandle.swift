import ReactorThreads

/// A loop as other threads see it: they may post to it, stop it, and run actors on it.
///
/// *Place*: the only type of this room that crosses threads.
public struct LoopHandle: Sendable {
    /// Runs Swift tasks and actors on the loop's thread.
    public let executor: LoopExecutor
    private let doorbell: LoopDoorbell

    init(_ doorbell: LoopDoorbell) {
        self.doorbell = doorbell
        executor = LoopExecutor(doorbell)
    }

    /// Runs `job` on the loop's thread, after the I/O of a pass and before its outputs leave.
    ///
    /// Jobs of one thread run in the order posted. Answers false, and drops the job, when the loop
    /// is closed.
    ///
    /// *Cost*: a lock; a system call only for the first job since the loop last looked, and none
    /// from within a turn.
    @discardableResult
    public func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        doorbell.post(.call(job))
    }

    /// Ends ``EventLoop/run()`` after the pass it is in. Safe before, during and after it.
    public func stop() {
        doorbell.requestStop()
    }

    /// Whether the caller runs inside a turn of this loop.
    public var isOnLoop: Bool { doorbell.turning.isCurrent }
}
