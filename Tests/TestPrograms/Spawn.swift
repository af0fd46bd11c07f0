import Foundation
import Glibc

/// Starts processes, however many files the test process has open.
///
/// Foundation's `Process` reads beyond its list of open files if there are more than about a
/// thousand, as in the tests with many connections.
enum Spawn {
    /// Starts `executable` with the files at these paths as its standard streams; appends to the
    /// output files. *C*: `posix_spawn`.
    static func run(
        _ executable: String, _ arguments: [String], _ environment: [String: String],
        input: String, output: String, errors: String
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let added = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, added, 0o644)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, added, 0o644)
        // A child must not inherit other open files. Closing a file that is already closed is no
        // error.
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for file in 3...max(3, open.compactMap { Int32($0) }.max() ?? 3) {
            unsafe posix_spawn_file_actions_addclose(&actions, file)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // The test threads block most signals, and a child inherits the mask: SIGTERM would never
        // arrive.
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = unsafe ([executable] + arguments).map { unsafe strdup($0) } + [nil]
        var settings = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe release(words + settings) }
        var pid = pid_t()
        let code = unsafe posix_spawn(&pid, executable, &actions, &attributes, &words, &settings)
        guard code == 0 else {
            throw CocoaError(
                .executableLoad,
                userInfo: [
                    NSFilePathErrorKey: executable,
                    "reason": unsafe String(cString: strerror(code)),
                ])
        }
        return pid
    }

    private static func release(_ texts: [UnsafeMutablePointer<CChar>?]) {
        var rest = unsafe texts
        while let text = unsafe rest.popLast() { unsafe free(text) }
    }

    /// Waits for the end of a process on a thread of its own, then calls `onEnd`.
    static func wait(
        for pid: pid_t, _ onEnd: @escaping @Sendable (ChildProcess.Ending) -> Void
    ) {
        Thread.detachNewThread {
            var status: Int32 = 0
            while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            onEnd(signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal))
        }
    }

    /// Waits until a process, to which a stopping signal was sent, has stopped or ended. *Linux*:
    /// `waitid`.
    static func awaitStop(of pid: pid_t) {
        var report = unsafe siginfo_t()
        // Leaves the report, so that a second stop of a stopped process returns too.
        let kinds = WSTOPPED | WEXITED | WNOWAIT
        while unsafe waitid(P_PID, id_t(pid), &report, kinds) != 0, errno == EINTR {}
    }
}
