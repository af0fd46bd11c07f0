import Glibc

/// A signal that one thread sleeps on; several rings without a wait count as one.
///
/// *Place*: beneath a ``Mailbox`` whose owner is a plain thread without a loop.
/// *Owner*: any thread rings; one thread waits.
@safe
package final class Bell: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isRung = false

    /// Makes a bell that has not been rung.
    package init() {
        unsafe pthread_mutex_init(mutex, nil)
        // A wait with a timeout must not depend on the wall clock, which can be set.
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

    /// Wakes the waiting thread; without one, the next wait returns at once.
    package func ring() {
        unsafe pthread_mutex_lock(mutex)
        isRung = true
        unsafe pthread_mutex_unlock(mutex)
        // A thread woken under the mutex would block on the mutex at once, and sleep a second time.
        unsafe pthread_cond_signal(condition)
    }

    /// Sleeps until the bell is rung; returns at once if it was rung since the last wait.
    package func wait() {
        unsafe pthread_mutex_lock(mutex)
        while !isRung { unsafe pthread_cond_wait(condition, mutex) }
        isRung = false
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Sleeps until the bell is rung, at most `milliseconds`. Returns whether it was rung; at once
    /// if it was rung since the last wait. *C*: `pthread_cond_timedwait`.
    @discardableResult
    package func wait(milliseconds: UInt32) -> Bool {
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
