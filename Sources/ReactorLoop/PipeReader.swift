import Glibc

/// Who reads from a pipe that this process writes to.
public enum PipeReader {
    /// Waits, on the calling thread, until nobody reads from the pipe of `descriptor` any more.
    ///
    /// *C*: `poll` for no event, which still tells of an error: that there is no reader.
    public static func waitForEnd(of descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        while unsafe poll(&entry, 1, -1) < 0, errno == EINTR {}
    }
}
