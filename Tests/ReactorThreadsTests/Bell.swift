import Glibc
import ReactorThreads

/// A doorbell to sleep on: rings while nobody waits are remembered as one.
@safe
final class Bell: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isRung = false

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func ring() {
        unsafe pthread_mutex_lock(mutex)
        isRung = true
        unsafe pthread_cond_signal(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    func wait() {
        unsafe pthread_mutex_lock(mutex)
        while !isRung { unsafe pthread_cond_wait(condition, mutex) }
        isRung = false
        unsafe pthread_mutex_unlock(mutex)
    }
}
