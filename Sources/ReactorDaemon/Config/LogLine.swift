package import Logging
import ReactorJournal
import ReactorServer
import ReactorWire

/// The form of a line in the daemon's log.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: time, level, and metadata as `key=value`.
    case text
    /// An object of JSON on each line.
    case json
    /// For journald: entries with fields, if journald reads standard error; else lines with a
    /// priority such as `<4>` before the message. Both have no time, which journald adds.
    case journal
}

/// Formats events of the log for programs.
///
/// *Shape*: one line for each event, or an entry of lines; control characters are escaped.
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

    /// Maximum bytes of the message in an entry for journald; the rest is cut.
    package static let entryMessageBytesMax = 32 << 10
    /// Maximum bytes of each other field in an entry for journald; the rest is cut.
    package static let entryFieldBytesMax = 4 << 10

    /// The event as an entry for journald's socket: `MESSAGE`, `PRIORITY`, `SYSLOG_IDENTIFIER`,
    /// `ERROR`, and the metadata, where `byUID` is `BY_UID`.
    ///
    /// *Shape*: a line `NAME=value` for each field.
    package static func journalEntry(
        _ event: LogEvent, _ metadata: Logger.Metadata, program: String
    ) -> [UInt8] {
        var fields = [
            ("MESSAGE", "\(event.message)"), ("PRIORITY", "\(priority(of: event.level))"),
            ("SYSLOG_IDENTIFIER", program),
        ]
        if let error = event.error { fields.append(("ERROR", "\(error)")) }
        let own = Set(["MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER", "ERROR"])
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            let name = fieldName(key)
            fields.append((own.contains(name) ? "FIELD_" + name : name, "\(value)"))
        }
        var entry: [UInt8] = []
        for (name, value) in fields {
            let most = name == "MESSAGE" ? entryMessageBytesMax : entryFieldBytesMax
            // No value contains a line feed, so none needs the form with a length.
            entry += "\(name)=".utf8
            entry += value.terminalSafe.cut(to: most).utf8
            entry.append(0x0a)
        }
        return entry
    }

    /// The name of a field for a key: upper case, words separated by underscores. Names that begin
    /// with an underscore are journald's, and no name begins with a digit.
    private static func fieldName(_ key: String) -> String {
        var name = ""
        var wasLower = false
        for byte in key.utf8.prefix(56) {
            let character = Character(UnicodeScalar(byte))
            let isUpper = (0x41...0x5a).contains(byte)
            if isUpper, wasLower { name += "_" }
            wasLower = (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
            name += isUpper || wasLower ? String(character).uppercased() : "_"
        }
        let first = name.utf8.first ?? 0x5f
        return (0x41...0x5a).contains(first) ? name : "FIELD_" + name
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
