import Glibc

/// Writes lines to a descriptor on a separate thread, so that no caller waits for the reader.
///
/// *Place*: between a daemon's log and its standard error, whose reader may stop reading. Up to
/// ``byteCountMax`` bytes wait for the reader; further lines are dropped and counted, and the count
/// is written once the reader continues.
///
/// *Owner*: any thread. The thread ends when the writer is released.
package final class LineWriter: Sendable {
    /// Maximum bytes that wait, including those being written.
    package static let byteCountMax = 256 << 10

    private let queue: LineQueue

    /// Writes to `descriptor`, which must stay open; `whenDropped` makes the line that reports
    /// dropped lines, with its newline.
    package init(
        to descriptor: Int32, byteCountMax: Int = LineWriter.byteCountMax,
        whenDropped: @escaping @Sendable (_ count: UInt64) -> String
    ) throws(WorkThreadError) {
        let queue = LineQueue(byteCountMax)
        self.queue = queue
        _ = try WorkThread(name: "log", stackByteCount: 256 << 10, takesSignals: false) {
            queue.write(to: descriptor, whenDropped)
        }
    }

    deinit { queue.close() }

    /// Queues `text`, one or several whole lines, to be written in order; drops it if it does not
    /// fit. Never waits.
    package func write(_ text: String) { queue.add(text) }

    /// Number of lines dropped since the start.
    package var droppedCount: UInt64 { queue.droppedCount }

    /// Waits until everything is written, at most `milliseconds`. Returns whether it is.
    ///
    /// *Owner*: one thread at a time.
    @discardableResult
    package func flush(milliseconds: UInt32) -> Bool { queue.flush(milliseconds: milliseconds) }
}

/// The waiting bytes, and those being written.
private final class LineQueue: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// Bytes that the thread has taken and not yet written.
        var takenByteCount = 0
        var droppedCount: UInt64 = 0
        var toldCount: UInt64 = 0
        var isClosed = false

        var isEmpty: Bool { waiting.isEmpty && takenByteCount == 0 && droppedCount == toldCount }
    }

    /// Maximum bytes that wait, including those being written.
    private let byteCountMax: Int
    private let state = Guarded(State())
    private let work = Bell()
    private let progress = Bell()

    init(_ byteCountMax: Int) { self.byteCountMax = byteCountMax }

    var droppedCount: UInt64 { state.withLock { $0.droppedCount } }

    func add(_ text: String) {
        let isAdded = state.withLock { state in
            let bytes = text.utf8
            guard state.waiting.count + state.takenByteCount + bytes.count <= byteCountMax else {
                state.droppedCount += 1
                return false
            }
            state.waiting.append(contentsOf: bytes)
            return true
        }
        // If a line was dropped, the thread is busy, and checks the queue again afterwards.
        if isAdded { work.ring() }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        work.ring()
    }

    func flush(milliseconds: UInt32) -> Bool {
        let end = Self.now + UInt64(milliseconds)
        while true {
            if state.withLock({ $0.isEmpty }) { return true }
            let now = Self.now
            guard now < end else { return false }
            progress.wait(milliseconds: UInt32(end - now))
        }
    }

    /// Writes queued bytes on the calling thread, until the queue is closed.
    func write(to descriptor: Int32, _ whenDropped: (UInt64) -> String) {
        while true {
            let (bytes, dropped, isClosed) = state.withLock { state in
                let bytes = state.waiting
                state.waiting = []
                state.takenByteCount = bytes.count
                let dropped = state.droppedCount - state.toldCount
                state.toldCount = state.droppedCount
                return (bytes, dropped, state.isClosed)
            }
            if bytes.isEmpty, dropped == 0 {
                if isClosed { return }
                progress.ring()
                work.wait()
                continue
            }
            Self.write(bytes, to: descriptor)
            // The dropped lines came after all that were waiting then.
            if dropped > 0 { Self.write(Array(whenDropped(dropped).utf8), to: descriptor) }
            state.withLock { $0.takenByteCount = 0 }
            progress.ring()
        }
    }

    /// Writes all of `bytes`, however long it takes. Gives up on an error, since a log has no other
    /// place to report it.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var written = 0
        while written < bytes.count {
            let rest = bytes.count - written
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress.map { unsafe $0 + written }, rest)
            }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                // Another process that shares the descriptor may have made the descriptor
                // non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }

    /// Monotonic time in milliseconds. *C*: `clock_gettime`.
    private static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
