import Glibc
import ReactorThreads

/// One of the streams that the process was started with.
///
/// *Owner*: any thread; one at a time, or what two write may be mixed.
public struct StandardStream: Sendable {
    /// Standard input.
    public static let input = StandardStream(descriptor: STDIN_FILENO)
    /// Standard output.
    public static let output = StandardStream(descriptor: STDOUT_FILENO)
    /// Standard error.
    public static let error = StandardStream(descriptor: STDERR_FILENO)

    /// The system's number.
    public let descriptor: Int32

    /// Whether a person is at the other end. *C*: `isatty`.
    public var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Waits for bytes and answers those which are there, at most `byteCountMax`; none at the end.
    ///
    /// *Throws*: with the system's code. *C*: `read`.
    public func read(_ byteCountMax: Int) throws(CallFailure) -> [UInt8] {
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
    /// *Throws*: with the system's code, such as that of a full disk or of a closed pipe; a part may
    /// be written then. *C*: `write`.
    public func write(_ bytes: [UInt8]) throws(CallFailure) {
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

    /// Whether a call that failed may succeed now. Waits where the stream is one that does not
    /// block, which it is if any process that shares it made it so.
    private func isWorthAnother(for event: Int16) -> Bool {
        if errno == EINTR { return true }
        guard errno == EAGAIN else { return false }
        var entry = pollfd(fd: descriptor, events: event, revents: 0)
        while unsafe poll(&entry, 1, -1) < 0, errno == EINTR {}
        return true
    }

    /// Writes all of `text`.
    ///
    /// *Throws*: as for bytes.
    public func write(text: String) throws(CallFailure) { try write(Array(text.utf8)) }

    /// Calls `action` on a thread of its own once the last reader of this pipe is gone, though
    /// nothing is written. Does nothing where the stream is no pipe: a terminal or a file has no
    /// other end that goes. *C*: `fstat`, `poll`.
    public func whenReaderEnds(_ action: @escaping @Sendable () -> Void) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
            return
        }
        let descriptor = descriptor
        // Without a thread the next write finds out instead.
        _ = try? WorkThread(name: "pipe reader") {
            PipeReader.waitForEnd(of: descriptor)
            action()
        }
    }

    /// Opens `/dev/null` in place of each stream that the process was started without, so that no
    /// file or socket gets its number. *C*: `fcntl`, `open`.
    ///
    /// *Traps*: not itself; libuv does, where it closes a descriptor of 0 to 2.
    public static func openMissing() {
        for stream in STDIN_FILENO...STDERR_FILENO
        where fcntl(stream, F_GETFD) < 0 && errno == EBADF {
            // In the other direction than its use: what reads or writes is refused with EBADF, as
            // it would be without the descriptor, and does not seem to succeed.
            let mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY
            let descriptor = unsafe open("/dev/null", mode)
            // Another thread may have opened something in between.
            if descriptor > stream { close(descriptor) }
        }
    }
}
