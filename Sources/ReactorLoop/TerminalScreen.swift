import Glibc
import ReactorThreads

/// The whole terminal as a screen that a program draws on, and restores at its end.
///
///     guard let screen = TerminalScreen() else { … }
///     defer { screen.leave() }
///     screen.draw(["first line", "second line"])
///
/// *Place*: a command with a live view. It uses the terminal's second screen, so that the text
/// before it comes back. Keys are read one at a time and not shown; Ctrl-C still ends the process.
/// A signal that ends the process restores the terminal before. *Owner*: one thread, except for
/// ``leave()``.
package final class TerminalScreen: Sendable {
    private let former: termios
    private let isLeft = Flag()

    /// Takes over the terminal; `nil` if standard input and output are not one.
    ///
    /// *C*: `tcgetattr`, `tcsetattr`.
    package init?() {
        var settings = termios()
        guard StandardStream.output.isTerminal, StandardStream.input.isTerminal,
            unsafe tcgetattr(STDIN_FILENO, &settings) == 0
        else { return nil }
        former = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Without a key to suspend: a suspended program would leave the terminal in this state.
        settings.c_cc.10 = 0
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        // The second screen, no cursor, no wrapping of long lines.
        Self.write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l")
        SignalWatch.start { [self] _ in leave() }
    }

    /// The size in characters; 80 columns and 24 rows if the terminal does not state it. *C*:
    /// `ioctl(TIOCGWINSZ)`.
    package var size: TerminalSize {
        var size = winsize()
        let code = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
        guard code == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Replaces the screen's content. The lines must fit the screen, and contain no controls.
    package func draw(_ lines: [String]) {
        guard !isLeft.isUp else { return }
        // Overwriting does not flicker, unlike clearing first.
        let text = lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n")
        Self.write("\u{1b}[H\(text)\u{1b}[J")
    }

    /// What ended a wait.
    package enum Event: Equatable, Sendable {
        /// A key was pressed; a special key is several of them.
        case key(UInt8)
        /// The time passed.
        case nothing
        /// The terminal is gone.
        case ended
    }

    /// Waits for a key, at most `milliseconds`. *C*: `poll`, `read`.
    package func wait(milliseconds: Int32) -> Event {
        var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, milliseconds) > 0 else { return .nothing }
        guard let key = try? StandardStream.input.read(1).first else { return .ended }
        return .key(key)
    }

    /// Restores the terminal; the second call does nothing.
    package func leave() {
        guard !isLeft.isUp else { return }
        isLeft.raise()
        Self.write("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l")
        var former = former
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &former)
    }

    private static func write(_ text: String) { try? StandardStream.output.write(text: text) }
}

/// The size of a terminal, in characters.
package struct TerminalSize: Equatable, Sendable {
    /// Characters in a line.
    package let columns: Int
    /// Number of lines.
    package let rows: Int
}
