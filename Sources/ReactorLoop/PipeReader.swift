import Glibc

/// Detects the end of the readers of a pipe that this process writes to.
package enum PipeReader {
    /// Waits, on the calling thread, until the pipe of `descriptor` has no reader any more.
    ///
    /// *C*: `poll` without events, which still reports the error that there is no reader.
    package static func waitForEnd(of descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        while unsafe poll(&entry, 1, -1) < 0, errno == EINTR {}
    }
}
