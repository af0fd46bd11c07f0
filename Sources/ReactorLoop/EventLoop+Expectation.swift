import CLibUV
import Glibc

extension EventLoop {
    /// Says that `connection` is likely to have input next: turns look there first.
    ///
    /// Asking the kernel who has something is a system call of its own, which a reader that knows
    /// whom it waits for can save. A look in vain costs about a quarter of a microsecond, so nil
    /// takes the hint back. At most ``expectedReadsMax`` turns in a row serve that connection alone.
    public func expectInput(from connection: Connection?) { expected = connection }

    /// Turns in a row that serve the expected connection before the others are looked at.
    static let expectedReadsMax = 16

    /// Makes a turn of what the expected connection has; answers false if that is nothing.
    func turnForExpected() -> Bool {
        // because only a pass that looked at all others counts anew
        guard let connection = expected, expectedReads < Self.expectedReadsMax else {
            return false
        }
        guard connection.readNow() else { return false }
        expectedReads += 1
        endPass()
        return true
    }
}

extension Connection {
    /// Reads what is there without asking first whether something is; answers false if nothing is.
    /// An end or an error is left to the loop.
    ///
    /// *C*: `recv` with `MSG_DONTWAIT`.
    func readNow() -> Bool {
        guard isReading, !isClosed else { return false }
        var descriptor: uv_os_fd_t = -1
        unsafe uv_fileno(handle, &descriptor)
        let byteCount = unsafe recv(
            descriptor, loop.readBuffer, EventLoop.readBytesMax, Int32(MSG_DONTWAIT))
        guard byteCount > 0 else { return false }
        loop.beginPass()
        didRead(byteCount)
        return true
    }
}
