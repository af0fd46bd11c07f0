// because what its headers include first, such as timespec, Swift may take for its own
import CXXHash
import Glibc

/// The time of day, for a reader's eyes: no order depends on it.
public enum WallClock {
    /// Milliseconds since 1970. *C*: `clock_gettime(CLOCK_REALTIME)`.
    public static func milliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
