import Glibc
import Logging
import ReactorThreads

/// A daemon's log: lines to standard error that never wait for its reader.
///
/// *Place*: behind the program's `Logger`, and for its last words. *Owner*: any thread.
enum DaemonLog {
    /// How long the end of the process waits for the reader of what is left.
    static let flushMillisecondsMax: UInt32 = 500

    private static let label = Guarded("")
    private static let writer = try? LineWriter(to: STDERR_FILENO) { dropped(count: $0) }

    /// A handler of the common form.
    static func handler(label: String) -> StreamLogHandler {
        self.label.withLock { $0 = label }
        return StreamLogHandler(label: label, stream: LogStream())
    }

    /// Writes whole lines; where the system has no thread for them, at once.
    static func write(_ text: String) {
        if let writer { return writer.write(text) }
        StandardError.write(line: String(text.dropLast()))
    }

    /// Lines that were dropped since the start.
    static var droppedCount: UInt64 { writer?.droppedCount ?? 0 }

    /// Waits until what was written has left, but not for ever.
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

/// Hands a handler's lines to the log.
private struct LogStream: TextOutputStream {
    mutating func write(_ text: String) { DaemonLog.write(text) }
}

/// Keeps a handler's line.
private struct CapturedText: TextOutputStream, Sendable {
    let text: Guarded<String>

    mutating func write(_ text: String) { self.text.withLock { $0 += text } }
}
