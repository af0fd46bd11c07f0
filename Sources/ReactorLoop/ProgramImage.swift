import Glibc

/// Starts this process's program again, in the same process.
package enum ProgramImage {
    /// Replaces the process's memory by a new start of its program, with the same arguments, and with
    /// a further variable in its environment. What the process has locked or opened is closed.
    ///
    /// Returns only if the system refuses it. *C*: `sigprocmask`, `setenv`, `execv`.
    package static func restart(setting variable: String, to value: String) {
        // A new program inherits the mask.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigprocmask(SIG_SETMASK, &none, nil)
        unsafe setenv(variable, value, 1)
        unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        unsafe unsetenv(variable)
    }
}
