import Glibc

/// The wall clock of the machine on which the process runs.
///
/// *Place*: a program without a journal compares the clocks of other machines with it.
package enum MachineClock {
    /// Milliseconds since 1970; the clock may step. *C*: `clock_gettime(CLOCK_REALTIME)`.
    package static var milliseconds: Int64 {
        var time = timespec()
        let code = unsafe clock_gettime(CLOCK_REALTIME, &time)
        precondition(code == 0, "every system has a wall clock")
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
