import Foundation
import ReactorLoop
import ReactorWire

/// Where lines go: standard output for results, standard error for everything else.
enum Output {
    /// Standard output takes no more.
    struct Closed: Error {
        /// Why, unless who read it has seen enough.
        var reason: String?
    }

    /// Whether results go to a terminal.
    static let isTerminal = isatty(1) == 1
    /// Whether complaints and progress go to a terminal.
    static let isErrorTerminal = isatty(2) == 1

    /// Writes lines to standard output.
    ///
    /// *Throws*: ``Closed`` when nobody reads it any more, or it cannot be written.
    static func line(_ text: String) throws(Closed) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        } catch {
            throw Closed(reason: reason(for: error))
        }
    }

    private static func reason(for error: any Error) -> String? {
        var error = error as NSError
        while let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError { error = cause }
        guard error.domain == NSPOSIXErrorDomain,
            let code = POSIXErrorCode(rawValue: Int32(error.code))
        else { return "\(error)" }
        return code == .EPIPE ? nil : POSIXError(code).localizedDescription
    }

    /// Calls `close` once nobody reads standard output any more, though nothing is written; for
    /// commands that may be silent for long.
    static func watchReader(_ close: @escaping @Sendable () -> Void) {
        // because only a pipe's other end can go: a terminal or a file would look ready instead
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/1")
        guard link?.hasPrefix("pipe:") ?? false else { return }
        Thread.detachNewThread {
            PipeReader.waitForEnd(of: 1)
            close()
        }
    }

    /// Writes a value: pretty on a terminal if `isPretty`, else on one line.
    static func value(_ value: WireValue, isPretty: Bool = false) throws(Closed) {
        try line(value.json(pretty: isPretty && isTerminal))
    }

    /// Writes one line about what went wrong to standard error.
    static func complain(_ text: String) {
        // because a peer's text must not break the line or the terminal
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        write("reactorctl: \(line)\n")
    }

    /// Writes a message of several lines to standard error.
    static func complain(lines text: String) { write(text + "\n") }

    /// Replaces the progress line on a terminal; does nothing elsewhere.
    static func progress(_ text: String) {
        if isErrorTerminal { write("\r\u{1b}[K\(text)") }
    }

    private static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
