import Glibc

/// The process's standard error, for what a library has to tell a developer.
public enum StandardError {
    /// Writes a line. *C*: `write`; what cannot be written is lost.
    public static func write(line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in
            _ = unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }
}
