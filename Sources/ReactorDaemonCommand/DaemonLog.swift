import Glibc
import Logging
import ReactorDaemon
import ReactorThreads

/// A daemon's log: lines to standard error, written without waiting for the reader.
///
/// *Place*: behind the program's `Logger`, and for its error messages. *Owner*: any thread.
enum DaemonLog {
    /// Maximum time that the process waits at its end for the reader to take the remaining lines,
    /// in milliseconds.
    static let flushMillisecondsMax: UInt32 = 500

    /// The program's name, the form of its lines, and the lowest level that is written.
    private static let form = Guarded(
        (label: "", format: LogFormat.text, level: Logger.Level.info))
    private static let writer = try? LineWriter(to: STDERR_FILENO) { dropped(count: $0) }

    /// Creates a handler of a program's events, in the form and from the level of ``set(_:_:)``.
    static func handler(label: String) -> any LogHandler {
        form.withLock { $0.label = label }
        return DaemonLogHandler()
    }

    /// Sets the lowest level and the form of all lines from here on.
    static func set(_ level: Logger.Level, _ format: LogFormat) {
        form.withLock { ($0.level, $0.format) = (level, format) }
    }

    /// The lowest level that is written.
    fileprivate static var level: Logger.Level { form.withLock { $0.level } }

    /// Queues whole lines for the log's thread; without a thread, writes them immediately.
    static func write(_ text: String) {
        if let writer { return writer.write(text) }
        StandardError.write(line: String(text.dropLast()))
    }

    /// Writes a line about the end of `program`: as text in the form `reactord: …`, else as an
    /// event.
    static func complain(_ line: String, of program: String) {
        guard form.withLock({ $0.format }) != .text else { return write("\(program): \(line)\n") }
        log(.critical, line, [:], to: LogStream())
    }

    /// Number of lines dropped since the start.
    static var droppedCount: UInt64 { writer?.droppedCount ?? 0 }

    /// Waits until the queued lines are written, for at most ``flushMillisecondsMax``.
    static func flush() { writer?.flush(milliseconds: flushMillisecondsMax) }

    /// Creates a handler for lines in the form that applies now.
    fileprivate static func handler(_ stream: some TextOutputStream & Sendable) -> any LogHandler {
        let (label, format, _) = form.withLock { $0 }
        return format == .text
            ? StreamLogHandler(label: label, stream: stream)
            : LineLogHandler(label: label, format: format, stream: stream)
    }

    private static func dropped(count: UInt64) -> String {
        let text = Guarded("")
        log(
            .warning, "dropped lines that the reader of the log did not take",
            ["count": "\(count)"], to: CapturedText(text: text))
        return text.withLock { $0 }
    }

    private static func log(
        _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata,
        to stream: some TextOutputStream & Sendable
    ) {
        handler(stream).log(
            event: LogEvent(
                level: level, message: "\(message)", metadata: metadata, source: nil,
                file: #fileID, function: #function, line: #line))
    }
}

/// Writes each event in the form, and from the level, that applies when it is logged.
private struct DaemonLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// The level that a program has set for its own logger; nil follows the configuration.
    private var ownLevel: Logger.Level?

    var logLevel: Logger.Level {
        get { ownLevel ?? DaemonLog.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var handler = DaemonLog.handler(LogStream())
        handler.metadata = metadata
        handler.metadataProvider = metadataProvider
        handler.log(event: event)
    }
}

/// Writes each event as one line in a form for programs.
private struct LineLogHandler<Stream: TextOutputStream & Sendable>: LogHandler {
    let label: String
    let format: LogFormat
    let stream: Stream
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String, format: LogFormat, stream: Stream) {
        self.label = label
        self.format = format
        self.stream = stream
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        all.merge(metadataProvider?.get() ?? [:]) { $1 }
        all.merge(event.metadata ?? [:]) { $1 }
        var stream = stream
        stream.write(
            format == .json
                ? LogLine.json(event, all, program: label) : LogLine.journal(event, all))
    }
}

/// Passes a handler's lines to the log.
private struct LogStream: TextOutputStream, Sendable {
    mutating func write(_ text: String) { DaemonLog.write(text) }
}

/// Captures a handler's line.
private struct CapturedText: TextOutputStream, Sendable {
    let text: Guarded<String>

    mutating func write(_ text: String) { self.text.withLock { $0 += text } }
}
