import Glibc

/// A mutual exclusion lock over one `pthread_mutex_t`.
///
/// *Place*: below every type that crosses threads. It is a plain mutex, since the thread sanitizer
/// reports false races for the standard library's `Mutex`.
///
/// *Owner*: any thread. Not recursive: locking it again inside ``withLock(_:)`` deadlocks.
@safe
@usableFromInline package final class Lock: @unchecked Sendable {
    // Allocated, since a mutex must not move, and an inline one would move with its owner.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Makes an unlocked lock.
    package init() {
        unsafe mutex = .allocate(capacity: 1)
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init answered \(code)")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` while no other thread holds this lock.
    ///
    /// *Cost*: about 20 ns without contention. Keep `body` short, and call no unknown code in it.
    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        acquire()
        defer { release() }
        return try body()
    }

    /// Runs `body` if the lock is free; otherwise returns `nil`.
    package func withLockIfFree<Result: ~Copyable, Failure: Error>(
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
