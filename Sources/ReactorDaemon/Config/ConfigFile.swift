import Glibc
import ReactorLoop

/// Reads the text of a configuration file, with an error text for each reason that it cannot.
///
/// *Place*: the first step of ``DaemonConfig/init(file:)``; ``ConfigDocument`` parses the text.
enum ConfigFile {
    /// Maximum size of a configuration file in bytes; 250,000 reactors need less than half.
    static let bytesMax = 16 << 20

    /// Returns the complete text of the file at `path`.
    ///
    /// *Throws*: separate reasons for a missing file, a directory, a file without read
    /// permission, a file that is too large, and bytes that are not UTF-8.
    static func text(at path: String) throws(ConfigError) -> String {
        let bytes: [UInt8]
        do throws(CallFailure) {
            // One byte more than allowed, so that a pipe or an endless device ends as well.
            bytes = try FileSystem.bytes(at: path, byteCountMax: bytesMax + 1)
        } catch {
            throw ConfigError(ConfigProblem(reason(for: error), at: ConfigLocation(file: path)))
        }
        guard bytes.count <= bytesMax else {
            throw ConfigError(
                ConfigProblem(
                    "larger than \(ByteSizeText.format(bytesMax)), the maximum; "
                        + "is this the right file?", at: ConfigLocation(file: path)))
        }
        return try text(of: bytes, file: path)
    }

    private static func text(of bytes: [UInt8], file: String) throws(ConfigError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // The lines before the damage are text, so the count of their ends is its line.
            let repaired = String(decoding: bytes, as: UTF8.self)
            let before = repaired.unicodeScalars.prefix { $0 != "\u{FFFD}" }
            let line = 1 + before.count { $0 == "\n" }
            throw ConfigError(
                ConfigProblem(
                    "expected UTF-8 text, got other bytes; save the file as UTF-8",
                    at: ConfigLocation(file: file, line: line)))
        }
        return text
    }

    private static func reason(for failure: CallFailure) -> String {
        switch failure.errnoCode {
        case ENOENT: "no such file; give its path with --config"
        case EISDIR: "is a directory, expected a YAML file"
        case EACCES, EPERM: "permission to read it is missing; see its owner and mode"
        case ENOTDIR: "no such file: a part of the path is not a directory"
        case ENAMETOOLONG: "no such file: the name is too long"
        default: "unreadable: \(failure.message)"
        }
    }
}
