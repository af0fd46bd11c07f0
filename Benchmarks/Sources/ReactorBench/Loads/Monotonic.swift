import Glibc

/// The clock that the loop uses too.
struct Monotonic {
    /// Nanoseconds from an arbitrary origin.
    var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
