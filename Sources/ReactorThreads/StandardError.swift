import Glibc

/// The process's standard error, for messages of a library to a developer.
package enum StandardError {
    /// Writes a line. *C*: `write`; errors are ignored.
    package static func write(line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in
            _ = unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }
}
