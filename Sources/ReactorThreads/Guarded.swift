/// A value that several threads use, one at a time, under a lock that may guard others as well.
///
/// *Place*: a client's mirrors share one lock, so that a reader of two sees both at one revision.
public final class Guarded<Value>: @unchecked Sendable {
    /// The lock that guards the value.
    public let lock: Lock
    // because nobody comes here twice at a time: the lock is not recursive
    @exclusivity(unchecked) @usableFromInline var value: Value

    /// Puts `value` under `lock`.
    public init(_ value: sending Value, by lock: Lock = Lock()) {
        self.lock = lock
        unsafe self.value = value
    }

    /// Runs `body` on the value while no other thread is inside the lock.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try lock.withLock { () throws(Failure) in try unsafe body(&value) }
    }

    /// Runs `body` on the value if no other thread is inside the lock; answers nil if one is.
    public func withLockIfFree<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        try lock.withLockIfFree { () throws(Failure) in try unsafe body(&value) }
    }

    /// Runs `body` on the value inside the lock that the caller holds already.
    ///
    /// *Owner*: whoever is inside ``lock``; nothing checks it.
    @inlinable
    public func whileLocked<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(&value)
    }
}
