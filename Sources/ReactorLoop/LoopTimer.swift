import CLibUV

/// A timer on a loop, with millisecond granularity.
///
/// *Owner*: the loop's thread. It can be started repeatedly until ``close()``.
package final class LoopTimer: LoopResource {
    /// Called each time the timer is due. Released when the timer closes.
    package var onFire: (() -> Void)?

    /// Opens a timer that is not started. *C*: `uv_timer_init`.
    package init(on loop: EventLoop) throws(LoopError) {
        try loop.checkIsOpen(for: "timer")
        unsafe super.init(on: loop, as: uv_timer_t.self)
        unsafe uv_timer_init(loop.raw, timer)
        adopt()
    }

    private var timer: UnsafeMutablePointer<uv_timer_t> {
        unsafe memory.assumingMemoryBound(to: uv_timer_t.self)
    }

    /// Whether the timer is started.
    package var isStarted: Bool { unsafe uv_is_active(handle) != 0 }

    /// Fires once after `delay`, and then every `period` if there is one, never early.
    ///
    /// A second start replaces the first. Missed periods are not caught up.
    /// *C*: `uv_timer_start`.
    package func start(after delay: Duration, every period: Duration? = nil) {
        guard !isClosed else { return }
        // libuv counts from the start of the pass, which may be long ago.
        unsafe uv_update_time(loop.raw)
        unsafe uv_timer_start(
            timer,
            { timer in
                guard let data = unsafe timer?.pointee.data else { return }
                unsafe Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue().fire()
            },
            delay.wholeMilliseconds, period.map { max($0.wholeMilliseconds, 1) } ?? 0)
    }

    /// Stops the timer. *C*: `uv_timer_stop`.
    package func stop() {
        guard !isClosed else { return }
        unsafe uv_timer_stop(timer)
    }

    override func didClose() {
        onFire = nil
    }

    private func fire() {
        loop.noteActivity()
        // libuv runs timers before it waits. This prevents the wait, so that the turn ends and its
        // outputs are sent.
        unsafe uv_stop(loop.raw)
        onFire?()
    }
}

extension Duration {
    /// The milliseconds, rounded up.
    fileprivate var wholeMilliseconds: UInt64 {
        let nanoseconds = nanoseconds
        return nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
    }
}
