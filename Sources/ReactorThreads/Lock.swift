import Glibc

/// A mutual exclusion lock over one `pthread_mutex_t`.
///
/// *Place*: below every type that crosses threads. A plain mutex, because the thread sanitizer
/// understands it where it reports the standard library's `Mutex` falsely.
///
/// *Owner*: any thread. Not recursive: locking it again inside ``withLock(_:)`` deadlocks.
@safe
public final class Lock: @unchecked Sendable {
    // because an inline mutex would move with its owner, and a mutex must not move
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Makes an unlocked lock.
    public init() {
        unsafe mutex = .allocate(capacity: 1)
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init answered \(code)")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` while no other thread is inside this lock.
    ///
    /// *Cost*: about 20 ns without contention. Keep `body` short and call nothing unknown in it.
    @inlinable
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        acquire()
        defer { release() }
        return try body()
    }

    /// Runs `body` if no other thread is inside this lock; answers nil, and runs nothing, if one is.
    public func withLockIfFree<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { release() }
        return try body()
    }

    @usableFromInline
    func acquire() {
        unsafe pthread_mutex_lock(mutex)
    }

    @usableFromInline
    func release() {
        unsafe pthread_mutex_unlock(mutex)
    }
}
