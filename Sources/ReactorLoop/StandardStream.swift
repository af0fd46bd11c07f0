import Glibc
import ReactorThreads

/// A standard stream of the process.
///
/// *Owner*: any thread; concurrent writes may be mixed.
package struct StandardStream: Sendable {
    /// Standard input.
    package static let input = StandardStream(descriptor: STDIN_FILENO)
    /// Standard output.
    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    /// Standard error.
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    /// The descriptor.
    package let descriptor: Int32

    /// Whether the stream is a terminal. *C*: `isatty`.
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Waits for bytes and returns the available ones, at most `byteCountMax`; none at the end.
    ///
    /// *Throws*: with the system's code. *C*: `read`.
    package func read(_ byteCountMax: Int) throws(CallFailure) -> [UInt8] {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCountMax) { buffer, filled in
            repeat {
                count = unsafe Glibc.read(descriptor, buffer.baseAddress, byteCountMax)
            } while count < 0 && isWorthAnother(for: Int16(POLLIN))
            filled = max(0, count)
        }
        guard count >= 0 else { throw .system("read", "standard input") }
        return bytes
    }

    /// Writes all of `bytes`.
    ///
    /// *Throws*: with the system's code, for example for a full disk or a closed pipe; a part may
    /// have been written. *C*: `write`.
    package func write(_ bytes: [UInt8]) throws(CallFailure) {
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor, buffer.baseAddress?.advanced(by: start), bytes.count - start)
            }
            if count < 0 {
                guard isWorthAnother(for: Int16(POLLOUT)) else {
                    throw .system("write", "standard output")
                }
            } else {
                start += count
            }
        }
    }

    /// Whether repeating a failed call may succeed. Waits first if the stream is non-blocking, a
    /// mode that any process sharing it may have set.
    private func isWorthAnother(for event: Int16) -> Bool {
        if errno == EINTR { return true }
        guard errno == EAGAIN else { return false }
        var entry = pollfd(fd: descriptor, events: event, revents: 0)
        while unsafe poll(&entry, 1, -1) < 0, errno == EINTR {}
        return true
    }

    /// Writes all of `text`.
    ///
    /// *Throws*: like ``write(_:)``.
    package func write(text: String) throws(CallFailure) { try write(Array(text.utf8)) }

    /// Calls `action` on a separate thread once this pipe has no reader any more, even without a
    /// write. Does nothing if the stream is not a pipe: a terminal or a file has no readers that
    /// end. *C*: `fstat`, `poll`.
    package func whenReaderEnds(_ action: @escaping @Sendable () -> Void) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
            return
        }
        let descriptor = descriptor
        // If no thread can be started, the next write detects the end.
        _ = try? WorkThread(name: "pipe reader") {
            PipeReader.waitForEnd(of: descriptor)
            action()
        }
    }

    /// Opens `/dev/null` in place of each missing standard stream, so that no file or socket gets
    /// its number. *C*: `fcntl`, `open`.
    ///
    /// libuv traps when it closes a descriptor of 0 to 2.
    package static func openMissing() {
        for stream in STDIN_FILENO...STDERR_FILENO
        where fcntl(stream, F_GETFD) < 0 && errno == EBADF {
            // Opened for the opposite direction: reads and writes fail with EBADF, as without the
            // descriptor, and do not seem to succeed.
            let mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY
            let descriptor = unsafe open("/dev/null", mode)
            // Another thread may have opened a file in between.
            if descriptor > stream { close(descriptor) }
        }
    }
}

/// Prevents a write to a closed connection from ending the process.
enum BrokenPipe {
    /// Ignores SIGPIPE, unless the process has a handler for it.
    ///
    /// libuv writes without `MSG_NOSIGNAL`; such a write then fails with EPIPE instead.
    static func ignore() {
        var current = sigaction()
        guard unsafe sigaction(SIGPIPE, nil, &current) == 0 else { return }
        guard unsafe current.__sigaction_handler.sa_handler == nil else { return }
        signal(SIGPIPE, SIG_IGN)
    }
}
