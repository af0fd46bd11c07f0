import Glibc
import ReactorLoop
import ReactorWire

/// Where lines go: standard output for results, standard error for everything else.
///
/// What a peer said, or somebody put into a state, is escaped here: no line writes to the terminal
/// but as text.
enum Output {
    /// Standard output takes no more.
    struct Closed: Error {
        /// Why; nil where its reader has seen enough.
        var reason: String?
    }

    /// Whether results go to a terminal.
    static let isTerminal = StandardStream.output.isTerminal
    /// Whether complaints and progress go to a terminal.
    static let isErrorTerminal = StandardStream.error.isTerminal

    /// Whether a person may be at one of the standard streams.
    static var hasTerminal: Bool {
        isTerminal || isErrorTerminal || StandardStream.input.isTerminal
    }

    /// Writes a line to standard output.
    ///
    /// *Throws*: ``Closed`` when its reader is gone, or it cannot be written.
    static func line(_ text: String) throws(Closed) {
        do throws(CallFailure) {
            try StandardStream.output.write(Array((text.terminalSafe + "\n").utf8))
        } catch {
            guard error.errnoCode != EPIPE else { throw Closed(reason: nil) }
            let message = error.message
            throw Closed(reason: message.prefix(1).uppercased() + message.dropFirst())
        }
    }

    /// Writes the lines of `text` to standard output.
    static func lines(_ text: String) throws(Closed) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            try self.line(String(line))
        }
    }

    /// Calls `close` once standard output has no reader any more, though nothing is written; for
    /// commands that may be silent for long.
    static func watchReader(_ close: @escaping @Sendable () -> Void) {
        StandardStream.output.whenReaderEnds(close)
    }

    /// Writes a value: pretty on a terminal if `isPretty`, else on one line.
    static func value(_ value: WireValue, isPretty: Bool = false) throws(Closed) {
        try lines(value.json(pretty: isPretty && isTerminal))
    }

    /// Writes one line about what went wrong to standard error.
    static func complain(_ text: String) {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        write("reactorctl: \(line.terminalSafe)\n")
    }

    /// Writes a message of several lines to standard error.
    static func complain(lines text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            write(String(line).terminalSafe + "\n")
        }
    }

    /// Replaces the progress line on a terminal; does nothing elsewhere.
    static func progress(_ text: String) {
        if isErrorTerminal { write("\r\u{1b}[K\(text)") }
    }

    private static func write(_ text: String) {
        try? StandardStream.error.write(Array(text.utf8))
    }
}
