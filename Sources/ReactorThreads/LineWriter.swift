import Glibc

/// Writes lines to a descriptor on a separate thread, so that no caller waits for the reader.
///
/// *Place*: between a daemon's log and its standard error, whose reader may stop reading. Up to
/// ``byteCountMax`` bytes wait for the reader; further lines are dropped and counted, and the count
/// is written once the reader continues.
///
/// With a ``JournalSocket``, events that have the form of an entry go there, and as lines to the
/// descriptor only if journald does not take them.
///
/// *Owner*: any thread. The thread ends when the writer is released.
package final class LineWriter: Sendable {
    /// Maximum bytes that wait, including those being written.
    package static let byteCountMax = 256 << 10

    private let queue: LineQueue

    /// Writes to `descriptor`, which must stay open; `whenDropped` makes the event that reports
    /// dropped lines.
    package init(
        to descriptor: Int32, _ journal: JournalSocket? = nil,
        byteCountMax: Int = LineWriter.byteCountMax,
        whenDropped: @escaping @Sendable (_ count: UInt64) -> LogRecord
    ) throws(WorkThreadError) {
        let queue = LineQueue(byteCountMax)
        self.queue = queue
        _ = try WorkThread(name: "log", stackByteCount: 256 << 10, takesSignals: false) {
            queue.write(to: descriptor, journal, whenDropped)
        }
    }

    deinit { queue.close() }

    /// Queues `text`, one or several whole lines, to be written in order; drops it if it does not
    /// fit. Never waits.
    package func write(_ text: String) { write(LogRecord(text)) }

    /// Queues an event; drops it if it does not fit. Never waits.
    package func write(_ record: LogRecord) { queue.add(record) }

    /// Number of lines dropped since the start.
    package var droppedCount: UInt64 { queue.droppedCount }

    /// Waits until everything is written, at most `milliseconds`. Returns whether it is.
    ///
    /// *Owner*: one thread at a time.
    @discardableResult
    package func flush(milliseconds: UInt32) -> Bool { queue.flush(milliseconds: milliseconds) }
}

/// An event of a log, to be written.
package struct LogRecord: Sendable {
    /// Whole lines, with their newlines.
    package var text: String
    /// The entry for journald's socket; nil for an event that has only the form of a line.
    package var entry: [UInt8]?

    /// Makes an event of its forms.
    package init(_ text: String, entry: [UInt8]? = nil) {
        self.text = text
        self.entry = entry
    }

    fileprivate var byteCount: Int { text.utf8.count + (entry?.count ?? 0) }
}

/// The waiting events, and those being written.
private final class LineQueue: Sendable {
    private struct State {
        var waiting: [LogRecord] = []
        var waitingByteCount = 0
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

    func add(_ record: LogRecord) {
        let isAdded = state.withLock { state in
            let byteCount = state.waitingByteCount + record.byteCount
            guard byteCount + state.takenByteCount <= byteCountMax else {
                state.droppedCount += 1
                return false
            }
            state.waiting.append(record)
            state.waitingByteCount = byteCount
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

    /// Writes queued events on the calling thread, until the queue is closed.
    func write(
        to descriptor: Int32, _ journal: JournalSocket?, _ whenDropped: (UInt64) -> LogRecord
    ) {
        while true {
            let (records, dropped, isClosed) = state.withLock { state in
                let records = state.waiting
                state.waiting = []
                (state.takenByteCount, state.waitingByteCount) = (state.waitingByteCount, 0)
                let dropped = state.droppedCount - state.toldCount
                state.toldCount = state.droppedCount
                return (records, dropped, state.isClosed)
            }
            if records.isEmpty, dropped == 0 {
                if isClosed { return }
                progress.ring()
                work.wait()
                continue
            }
            Self.write(records, to: descriptor, journal)
            // The dropped lines came after all that were waiting then.
            if dropped > 0 { Self.write([whenDropped(dropped)], to: descriptor, journal) }
            state.withLock { $0.takenByteCount = 0 }
            progress.ring()
        }
    }

    /// Writes events in order: consecutive lines at once, and entries one by one.
    private static func write(
        _ records: [LogRecord], to descriptor: Int32, _ journal: JournalSocket?
    ) {
        var lines: [UInt8] = []
        for record in records {
            guard let entry = record.entry, let journal else {
                lines.append(contentsOf: record.text.utf8)
                continue
            }
            write(lines, to: descriptor)
            lines = []
            if !journal.send(entry) { lines.append(contentsOf: record.text.utf8) }
        }
        write(lines, to: descriptor)
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
