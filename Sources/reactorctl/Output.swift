import Glibc
import ReactorLoop
import ReactorWire

/// Writes results to standard output and everything else to standard error.
///
/// Escapes text from peers and states, so that a line cannot control the terminal.
enum Output {
    /// Standard output cannot be written any more.
    struct Closed: Error {
        /// The reason; nil if the reader has closed its end.
        var reason: String?
    }

    /// Whether results go to a terminal.
    static let isTerminal = StandardStream.output.isTerminal
    /// Whether errors and progress go to a terminal.
    static let isErrorTerminal = StandardStream.error.isTerminal

    /// Whether one of the standard streams is a terminal.
    static var hasTerminal: Bool {
        isTerminal || isErrorTerminal || StandardStream.input.isTerminal
    }

    /// Writes a line to standard output.
    ///
    /// *Throws*: ``Closed`` if the reader has closed its end, or the line cannot be written.
    static func line(_ text: String) throws(Closed) {
        do throws(CallFailure) {
            try StandardStream.output.write(Array((text.terminalSafe + "\n").utf8))
        } catch {
            guard error.errnoCode != EPIPE else { throw Closed(reason: nil) }
            let message = error.message
            throw Closed(reason: message.prefix(1).uppercased() + message.dropFirst())
        }
    }

    /// Writes the outcome of a command to standard output, then throws `failure` if there is one: a
    /// reader that has closed its end must not turn a failure into a success.
    static func result(_ text: String, _ failure: Failure?) throws {
        try result([text], failure)
    }

    /// Does the same with an outcome of several lines.
    static func result(_ lines: [String], _ failure: Failure?) throws {
        do throws(Closed) {
            for text in lines { try line(text) }
        } catch {
            if error.reason != nil || failure == nil { throw error }
        }
        if let failure { throw failure }
    }

    /// Writes each line of `text` to standard output.
    static func lines(_ text: String) throws(Closed) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            try self.line(String(line))
        }
    }

    /// Calls `close` when the reader of standard output closes its end, even if nothing is
    /// written; for commands that may be silent for long.
    static func watchReader(_ close: @escaping @Sendable () -> Void) {
        StandardStream.output.whenReaderEnds(close)
    }

    /// Writes a value, indented on a terminal if `isPretty` is true, else on one line.
    static func value(_ value: WireValue, isPretty: Bool = false) throws(Closed) {
        try lines(value.json(pretty: isPretty && isTerminal))
    }

    /// Writes an error as one line to standard error.
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
