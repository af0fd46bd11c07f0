import Glibc

/// A named thread that runs one closure to its end.
///
/// *Place*: runs a client's background loop, the journal's writer, and tests.
///
/// *Owner*: any one thread joins it, once. A thread that was not joined is detached when its
/// `WorkThread` is released, and continues.
package final class WorkThread: @unchecked Sendable {
    /// The name in debuggers and `/proc`; Linux keeps the first 15 bytes.
    package let name: String
    private let thread: pthread_t
    private let lock = Lock()
    private var isJoined = false

    /// Starts a thread called `name` that runs `body`; `takesSignals` is false to block all signals
    /// in it. A thread that `isInBackground` leaves the processors to the others of its process: it
    /// has a nice value of ``backgroundNice``, if the system allows that.
    ///
    /// *Throws*: if the system cannot start a thread.
    package init(
        name: String, stackByteCount: Int = 2 << 20, takesSignals: Bool = true,
        isInBackground: Bool = false, _ body: sending @escaping () -> Void
    ) throws(WorkThreadError) {
        // A new thread inherits the mask; set before, so that it never takes a signal.
        var (all, former) = (sigset_t(), sigset_t())
        if !takesSignals {
            unsafe sigfillset(&all)
            unsafe pthread_sigmask(SIG_SETMASK, &all, &former)
        }
        defer { if !takesSignals { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) } }
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackByteCount)

        let threadBody = ThreadBody(name: name, isInBackground: isInBackground, run: body)
        let task = unsafe Unmanaged.passRetained(threadBody)
        var started = pthread_t()
        let code = unsafe pthread_create(
            &started, &attributes, { unsafe ThreadBody.start($0) }, task.toOpaque())
        guard code == 0 else {
            unsafe task.release()
            throw WorkThreadError(name: name, code: code)
        }
        self.name = name
        thread = started
    }

    deinit {
        if !isJoined { pthread_detach(thread) }
    }

    // A third of the weight of other threads: it goes on beside them, and beside other processes.
    /// The nice value of a thread in the background.
    package static let backgroundNice: Int32 = 5

    /// Pauses the calling thread; a signal that it takes ends the pause. *C*: `nanosleep`.
    package static func pause(for duration: Duration) {
        let (seconds, attoseconds) = duration.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        _ = unsafe nanosleep(&time, nil)
    }

    /// Waits until the closure has returned. *Traps*: if joined twice, or by itself.
    package func join() {
        let isFirst = lock.withLock {
            defer { isJoined = true }
            return !isJoined
        }
        precondition(isFirst, "thread \(name) is joined twice")
        let code = pthread_join(thread, nil)
        precondition(code == 0, "thread \(name): pthread_join answered \(code)")
    }
}

/// A thread could not be started.
package struct WorkThreadError: Error, Equatable, CustomStringConvertible {
    /// The name of the thread.
    package let name: String
    /// The error code of `pthread_create`.
    package let code: Int32

    /// The failed call and the thread's name.
    package var description: String {
        "pthread_create of thread \(name): \(unsafe String(cString: strerror(code)))"
    }
}

/// The data of a new thread.
private final class ThreadBody {
    let name: String
    let isInBackground: Bool
    let run: () -> Void

    init(name: String, isInBackground: Bool, run: @escaping () -> Void) {
        self.name = name
        self.isInBackground = isInBackground
        self.run = run
    }

    static func start(_ raw: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let raw = unsafe raw else { return nil }
        let body = unsafe Unmanaged<ThreadBody>.fromOpaque(raw).takeRetainedValue()
        nameCurrentThread(body.name)
        // On Linux a nice value is that of a thread, and 0 the calling one. A sandbox may refuse.
        if body.isInBackground {
            setpriority(.init(PRIO_PROCESS.rawValue), 0, WorkThread.backgroundNice)
        }
        body.run()
        return nil
    }

    // Written directly: `pthread_setname_np` needs a feature macro that Swift's Glibc does not set.
    // A failure to name the thread is ignored.
    private static func nameCurrentThread(_ name: String) {
        let descriptor = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let bytes = Array(name.utf8.prefix(15))
        _ = unsafe write(descriptor, bytes, bytes.count)
        close(descriptor)
    }
}

extension UnownedJob {
    /// Runs the job now, as one of `executor`.
    ///
    /// *Owner*: the code that took the job out of the executor's queue; a job runs once.
    package func run(on executor: some TaskExecutor) {
        unsafe runSynchronously(on: executor.asUnownedTaskExecutor())
    }
}
