import Glibc

/// Options to start this program again.
struct ProgramSpawn {
    var environment: [String: String] = [:]
    /// The descriptor for its standard input; `nil` for this process's own.
    var input: Int32?
    /// Whether the new program's output is dropped.
    var isSilent = false

    /// Starts this program with `arguments`, as the leader of a new process group. *C*:
    /// `posix_spawn`.
    func start(_ arguments: [String]) throws(LoopError) -> pid_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        // This process ignores these signals; the new one must not inherit that.
        for number in [SIGPIPE, SIGTTOU] { unsafe sigaddset(&mask, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &mask)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, 0) }
        if isSilent {
            for stream in [STDOUT_FILENO, STDERR_FILENO] {
                unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
            }
        }
        let words = CStringList([CommandLine.arguments.first ?? "reactorctl"] + arguments)
        let settings = CStringList(environment.map { "\($0.key)=\($0.value)" })
        var pid = pid_t()
        let code = unsafe words.withPointers { words in
            unsafe settings.withPointers { settings in
                unsafe posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, words, settings)
            }
        }
        guard code == 0 else {
            throw .call(CallFailure(call: "posix_spawn", code: -code, subject: arguments[0]))
        }
        return pid
    }
}

/// Texts as a C array that ends with a null pointer.
@safe
final class CStringList {
    private var pointers: [UnsafeMutablePointer<CChar>?]

    init(_ texts: [String]) {
        unsafe pointers = texts.map { unsafe strdup($0) } + [nil]
    }

    deinit { while let pointer = unsafe pointers.popLast() { unsafe free(pointer) } }

    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        unsafe pointers.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else {
                preconditionFailure("a list of texts has its end at least")
            }
            return unsafe body(start)
        }
    }
}
