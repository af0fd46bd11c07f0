// Imported first: Swift may otherwise attribute types such as timespec to this module.
import CXXHash
import Glibc

/// The time of day, for people only: no order depends on it. Also a clock that cannot be set.
package enum WallClock {
    /// Milliseconds since 1970. *C*: `clock_gettime(CLOCK_REALTIME)`.
    package static func milliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Milliseconds since the machine booted, including sleep. *C*:
    /// `clock_gettime(CLOCK_BOOTTIME)`.
    static func uptimeMilliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
