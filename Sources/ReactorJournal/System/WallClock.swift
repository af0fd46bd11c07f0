// because what its headers include first, such as timespec, Swift may take for its own
import CXXHash
import Glibc

/// The time of day, for a reader's eyes: no order depends on it; and a clock that no one can set.
public enum WallClock {
    /// Milliseconds since 1970. *C*: `clock_gettime(CLOCK_REALTIME)`.
    public static func milliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Milliseconds since the machine was started, its sleep included.
    /// *C*: `clock_gettime(CLOCK_BOOTTIME)`.
    static func uptimeMilliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
