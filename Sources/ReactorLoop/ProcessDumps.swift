import Glibc

/// Controls whether a crash of the process reveals its memory.
///
/// A core dump contains the states of all reactors, the secrets of sessions, and what clients sent. So
/// does the memory that a debugger reads.
///
/// *Place*: a daemon refuses dumps at its start, before it reads states. *Owner*: any thread.
package enum ProcessDumps {
    /// Keeps the system from writing the memory of the process to a core dump, and other processes
    /// of its user from reading that memory: only root can attach a debugger. Holds until the
    /// process starts another program.
    ///
    /// Programs that it starts get no core dumps by default, and may raise that limit.
    /// *C*: `setrlimit(RLIMIT_CORE)`, `prctl(PR_SET_DUMPABLE)`.
    package static func refuse() {
        var limit = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 {
            limit.rlim_cur = 0
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        }
        // The limit alone does not hold where the system passes dumps to a program.
        ProcessMemory.hide()
    }
}
