import Glibc
import Logging
import ReactorDaemon
import ReactorLoop
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
    /// Journald's socket, if journald reads standard error.
    private static let journal: JournalSocket? = {
        let stream = ProcessEnvironment.environment["JOURNAL_STREAM"]
        return JournalSocket.reads(STDERR_FILENO, stream: stream) ? JournalSocket() : nil
    }()
    private static let writer = try? LineWriter(to: STDERR_FILENO, journal) {
        dropped(count: $0)
    }
    /// Whether events in the form ``LogFormat/journal`` have the form of an entry as well.
    fileprivate static var hasJournal: Bool { journal != nil }

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
    static func write(_ text: String) { write(LogRecord(text)) }

    /// Queues an event for the log's thread.
    fileprivate static func write(_ record: LogRecord) {
        if let writer { return writer.write(record) }
        StandardError.write(line: String(record.text.dropLast()))
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
    fileprivate static func handler(_ stream: some LogOutput) -> any LogHandler {
        let (label, format, _) = form.withLock { $0 }
        return format == .text
            ? StreamLogHandler(label: label, stream: stream)
            : LineLogHandler(label: label, format: format, stream: stream)
    }

    private static func dropped(count: UInt64) -> LogRecord {
        let record = Guarded(LogRecord(""))
        log(
            .warning, "dropped lines that the reader of the log did not take",
            ["count": "\(count)"], to: CapturedRecord(record: record))
        return record.withLock { $0 }
    }

    private static func log(
        _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata,
        to stream: some LogOutput
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

/// A place for lines and events.
private protocol LogOutput: TextOutputStream, Sendable {
    /// Writes an event.
    mutating func write(_ record: LogRecord)
}

extension LogOutput {
    mutating func write(_ text: String) { write(LogRecord(text)) }
}

/// Writes each event in a form for programs.
private struct LineLogHandler<Stream: LogOutput>: LogHandler {
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
        guard format == .journal else {
            return stream.write(LogRecord(LogLine.json(event, all, program: label)))
        }
        let entry =
            DaemonLog.hasJournal
            ? LogLine.journalEntry(event, all, program: label) : nil
        stream.write(LogRecord(LogLine.journal(event, all), entry: entry))
    }
}

/// Passes a handler's lines and events to the log.
private struct LogStream: LogOutput {
    mutating func write(_ record: LogRecord) { DaemonLog.write(record) }
}

/// Captures a handler's event.
private struct CapturedRecord: LogOutput {
    let record: Guarded<LogRecord>

    mutating func write(_ record: LogRecord) { self.record.withLock { $0 = record } }
}
