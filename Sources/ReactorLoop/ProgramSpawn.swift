import Glibc

/// How this program is started again.
struct ProgramSpawn {
    var environment: [String: String] = [:]
    /// The descriptor of its standard input; that of this process without one.
    var input: Int32?
    /// Whether what it writes is dropped.
    var isSilent = false

    /// Starts this program with `arguments`, as the leader of a group. *C*: `posix_spawn`.
    func start(_ arguments: [String]) throws(LoopError) -> pid_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        // What this process ignores for its own sake.
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

/// Texts as C has them: a list that ends with nothing.
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
