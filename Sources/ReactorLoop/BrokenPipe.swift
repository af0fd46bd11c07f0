import Glibc

/// Keeps a write to a closed connection from ending the process.
enum BrokenPipe {
    /// Ignores SIGPIPE, unless the process handles it in its own way already.
    ///
    /// Because libuv writes without `MSG_NOSIGNAL`; the write then answers EPIPE instead.
    static func ignore() {
        var current = sigaction()
        guard unsafe sigaction(SIGPIPE, nil, &current) == 0 else { return }
        guard unsafe current.__sigaction_handler.sa_handler == nil else { return }
        signal(SIGPIPE, SIG_IGN)
    }
}
