/// A value that several threads use, one at a time, under a lock that may guard other values as
/// well.
///
/// *Place*: a client's mirrors share one lock, so that a reader of two sees both at the same
/// revision.
@usableFromInline package final class Guarded<Value>: @unchecked Sendable {
    /// The lock that guards the value.
    @usableFromInline package let lock: Lock
    // Unchecked: the lock is not recursive, so accesses cannot overlap.
    @exclusivity(unchecked) @usableFromInline var value: Value

    /// Guards `value` with `lock`.
    package init(_ value: sending Value, by lock: Lock = Lock()) {
        self.lock = lock
        unsafe self.value = value
    }

    /// Runs `body` on the value while no other thread is inside the lock.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try lock.withLock { () throws(Failure) in try unsafe body(&value) }
    }

    /// Runs `body` on the value if the lock is free; otherwise returns `nil`.
    package func withLockIfFree<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        try lock.withLockIfFree { () throws(Failure) in try unsafe body(&value) }
    }

    /// Runs `body` on the value while the caller holds the lock.
    ///
    /// *Owner*: callers that hold ``lock``; nothing checks it.
    @inlinable
    package func whileLocked<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(&value)
    }
}
