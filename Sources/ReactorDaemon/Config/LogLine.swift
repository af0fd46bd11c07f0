package import Logging
import ReactorJournal
import ReactorWire

/// The form of a line in the daemon's log.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: time, level, and metadata as `key=value`.
    case text
    /// An object of JSON on each line.
    case json
    /// For journald: a priority such as `<4>` before the message, and no time, which journald adds.
    case journal
}

/// Formats events of the log for programs.
///
/// *Shape*: one line for each event; control characters are escaped.
package enum LogLine {
    /// The event as an object: time, level, program, message, error, and the metadata as texts.
    package static func json(
        _ event: LogEvent, _ metadata: Logger.Metadata, program: String,
        at milliseconds: Int64 = WallClock.milliseconds()
    ) -> String {
        var fields: [(String, WireValue)] = [
            ("time", .text(TimestampText.format(milliseconds: milliseconds))),
            ("level", .text(event.level.rawValue)), ("program", .text(program)),
            ("message", .text("\(event.message)")),
        ]
        if let error = event.error { fields.append(("error", .text("\(error)"))) }
        if !metadata.isEmpty { fields.append(("metadata", .map(map(metadata)))) }
        let pairs = fields.map { "\(WireValue.text($0.0).json()):\($0.1.json(ascii: true))" }
        return "{\(pairs.joined(separator: ","))}\n"
    }

    /// The event as `<priority>message key=value`, with the priorities of syslog.
    package static func journal(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        var words = ["\(event.message)".terminalSafe]
        if let error = event.error { words.append("error=\("\(error)".terminalSafe)") }
        words += metadata.sorted { $0.key < $1.key }.map {
            "\($0.key.terminalSafe)=\("\($0.value)".terminalSafe)"
        }
        return "<\(priority(of: event.level))>\(words.joined(separator: " "))\n"
    }

    private static func map(_ metadata: Logger.Metadata) -> WireMap {
        var map = WireMap()
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            map[WireKey(key)] = .text("\(value)")
        }
        return map
    }

    /// The priority of syslog for a level, from 2 (critical) to 7 (debug).
    private static func priority(of level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
