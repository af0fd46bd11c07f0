import Glibc
import Logging
import ReactorThreads

/// A daemon's log: lines to standard error, written without waiting for the reader.
///
/// *Place*: behind the program's `Logger`, and for its error messages. *Owner*: any thread.
enum DaemonLog {
    /// Maximum time that the process waits at its end for the reader to take the remaining lines,
    /// in milliseconds.
    static let flushMillisecondsMax: UInt32 = 500

    private static let label = Guarded("")
    private static let writer = try? LineWriter(to: STDERR_FILENO) { dropped(count: $0) }

    /// Creates a handler with the common line format.
    static func handler(label: String) -> StreamLogHandler {
        self.label.withLock { $0 = label }
        return StreamLogHandler(label: label, stream: LogStream())
    }

    /// Queues whole lines for the log's thread; without a thread, writes them immediately.
    static func write(_ text: String) {
        if let writer { return writer.write(text) }
        StandardError.write(line: String(text.dropLast()))
    }

    /// Number of lines dropped since the start.
    static var droppedCount: UInt64 { writer?.droppedCount ?? 0 }

    /// Waits until the queued lines are written, for at most ``flushMillisecondsMax``.
    static func flush() { writer?.flush(milliseconds: flushMillisecondsMax) }

    private static func dropped(count: UInt64) -> String {
        let text = Guarded("")
        StreamLogHandler(label: label.withLock { $0 }, stream: CapturedText(text: text)).log(
            event: LogEvent(
                level: .warning, message: "dropped lines that the reader of the log did not take",
                metadata: ["count": "\(count)"], source: nil, file: #fileID, function: #function,
                line: #line))
        return text.withLock { $0 }
    }
}

/// Passes a handler's lines to the log.
private struct LogStream: TextOutputStream {
    mutating func write(_ text: String) { DaemonLog.write(text) }
}

/// Captures a handler's line.
private struct CapturedText: TextOutputStream, Sendable {
    let text: Guarded<String>

    mutating func write(_ text: String) { self.text.withLock { $0 += text } }
}
