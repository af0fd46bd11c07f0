import Glibc

/// Options to start a program, by default this one again.
struct ProgramSpawn {
    var environment: [String: String] = [:]
    /// The descriptor for its standard input; `nil` for this process's own.
    var input: Int32?
    /// Whether the new program's output is dropped.
    var isSilent = false
    /// Descriptors that it inherits under their numbers, although they are close-on-exec here.
    var inherited: [Int32] = []
    /// Whether it leads a new process group.
    var leadsGroup = true

    /// Starts this program with `arguments`.
    func start(_ arguments: [String]) throws(LoopError) -> pid_t {
        let name = CommandLine.arguments.first ?? "reactorctl"
        return try start(
            "/proc/self/exe", [name] + arguments, subject: arguments.first ?? name)
    }

    /// Starts the program in the file at `path` with the words of its command line; an error names
    /// the `subject`. *C*: `posix_spawn`.
    func start(
        _ path: String, _ words: [String], subject: String
    ) throws(LoopError) -> pid_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        // This process ignores these signals; the new one must not inherit that.
        for number in [SIGPIPE, SIGTTOU, SIGXFSZ] { unsafe sigaddset(&mask, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &mask)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let group = leadsGroup ? POSIX_SPAWN_SETPGROUP : 0
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, 0) }
        if isSilent {
            for stream in [STDOUT_FILENO, STDERR_FILENO] {
                unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
            }
        }
        // Onto itself, which only clears the flag close-on-exec.
        for descriptor in inherited {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor)
        }
        let words = CStringList(words)
        let settings = CStringList(environment.map { "\($0.key)=\($0.value)" })
        var pid = pid_t()
        let code = unsafe words.withPointers { words in
            unsafe settings.withPointers { settings in
                unsafe posix_spawn(&pid, path, &actions, &attributes, words, settings)
            }
        }
        guard code == 0 else {
            throw .call(CallFailure(call: "posix_spawn", code: -code, subject: subject))
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
