import Glibc

/// A doorbell to sleep on: rings while nobody waits are remembered as one.
///
/// *Place*: beneath a ``Mailbox`` whose owner is a plain thread and has no loop to be woken by.
/// *Owner*: any thread rings; one thread waits.
@safe
public final class Bell: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isRung = false

    /// Makes a bell that nobody has rung.
    public init() {
        unsafe pthread_mutex_init(mutex, nil)
        // A wait with an end must not depend on the wall clock, which somebody may set.
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Wakes who waits, or else who waits next.
    public func ring() {
        unsafe pthread_mutex_lock(mutex)
        isRung = true
        unsafe pthread_mutex_unlock(mutex)
        // because who is woken under the mutex runs into it at once, and sleeps a second time
        unsafe pthread_cond_signal(condition)
    }

    /// Sleeps until somebody rings, or not at all if somebody has since the last wait.
    public func wait() {
        unsafe pthread_mutex_lock(mutex)
        while !isRung { unsafe pthread_cond_wait(condition, mutex) }
        isRung = false
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Sleeps until somebody rings, at most `milliseconds`; says whether somebody rang. Not at all if
    /// somebody has since the last wait. *C*: `pthread_cond_timedwait`.
    @discardableResult
    public func wait(milliseconds: UInt32) -> Bool {
        var end = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + Int(milliseconds % 1_000) * 1_000_000
        end.tv_sec += Int(milliseconds / 1_000) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !isRung {
            if unsafe pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { break }
        }
        defer { isRung = false }
        return isRung
    }
}
