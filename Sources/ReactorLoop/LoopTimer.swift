import CLibUV

/// A timer on a loop, with the loop's granularity of a millisecond.
///
/// *Owner*: the loop's thread. Stays open, and may be started again, until ``close()``.
public final class LoopTimer: LoopResource {
    /// Runs each time it is due. Released when the timer closes.
    public var onFire: (() -> Void)?

    /// Opens a timer that is not started. *C*: `uv_timer_init`.
    public init(on loop: EventLoop) throws(LoopError) {
        try loop.checkIsOpen(for: "timer")
        unsafe super.init(on: loop, as: uv_timer_t.self)
        unsafe uv_timer_init(loop.raw, timer)
        adopt()
    }

    private var timer: UnsafeMutablePointer<uv_timer_t> {
        unsafe memory.assumingMemoryBound(to: uv_timer_t.self)
    }

    /// Whether it will fire.
    public var isStarted: Bool { unsafe uv_is_active(handle) != 0 }

    /// Fires once after `delay`, and then every `period` if there is one, never early.
    ///
    /// Starting it again replaces what was set. A period that was missed is not made up for.
    /// *C*: `uv_timer_start`.
    public func start(after delay: Duration, every period: Duration? = nil) {
        guard !isClosed else { return }
        // because libuv counts from the time at which the pass began, which may be long ago
        unsafe uv_update_time(loop.raw)
        unsafe uv_timer_start(
            timer,
            { timer in
                guard let data = unsafe timer?.pointee.data else { return }
                unsafe Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue().fire()
            },
            delay.wholeMilliseconds, period.map { max($0.wholeMilliseconds, 1) } ?? 0)
    }

    /// Does not fire any more. *C*: `uv_timer_stop`.
    public func stop() {
        guard !isClosed else { return }
        unsafe uv_timer_stop(timer)
    }

    override func didClose() {
        onFire = nil
    }

    private func fire() {
        loop.noteActivity()
        // because libuv runs timers before it waits: this keeps the pass from waiting, so that the
        // turn ends and its outputs leave
        unsafe uv_stop(loop.raw)
        onFire?()
    }
}

extension Duration {
    /// The milliseconds in it, rounded up.
    fileprivate var wholeMilliseconds: UInt64 {
        let nanoseconds = nanoseconds
        return nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
    }
}
