import Foundation

/// Reads a configuration file's text, and says in so many words why it cannot.
///
/// *Place*: the first step of ``DaemonConfig/init(file:)``; hands its text to ``ConfigDocument``.
enum ConfigFile {
    /// Largest configuration file in bytes; a quarter of a million reactors need less than half.
    static let bytesMax = 16 << 20

    /// The whole text of the file at `path`.
    ///
    /// *Throws*: distinct reasons for a missing file, a directory, one that may not be read, one
    /// that is too large, and one that is not text.
    static func text(at path: String) throws(ConfigError) -> String {
        let bytes: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            bytes = try read(handle)
        } catch {
            throw ConfigError(ConfigProblem(reason(for: error), at: ConfigPlace(file: path)))
        }
        guard bytes.count <= bytesMax else {
            throw ConfigError(
                ConfigProblem(
                    "larger than \(ByteSizeText.format(bytesMax)), the most that is read; "
                        + "is this the right file?", at: ConfigPlace(file: path)))
        }
        return try text(of: bytes, file: path)
    }

    /// Up to one byte more than allowed, so that a pipe or an endless device ends as well.
    private static func read(_ handle: FileHandle) throws -> Data {
        var bytes = Data()
        while bytes.count <= bytesMax,
            let part = try handle.read(upToCount: bytesMax + 1 - bytes.count), !part.isEmpty
        {
            bytes += part
        }
        return bytes
    }

    private static func text(of bytes: Data, file: String) throws(ConfigError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // because the lines before the damage are text, the count of their ends is its line
            let repaired = String(decoding: bytes, as: UTF8.self)
            let before = repaired.unicodeScalars.prefix { $0 != "\u{FFFD}" }
            let line = 1 + before.count { $0 == "\n" }
            throw ConfigError(
                ConfigProblem(
                    "expected UTF-8 text, got bytes that are none; save the file as UTF-8",
                    at: ConfigPlace(file: file, line: line)))
        }
        return text
    }

    private static func reason(for error: any Error) -> String {
        var error = error as NSError
        while let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError { error = cause }
        guard error.domain == NSPOSIXErrorDomain,
            let code = POSIXErrorCode(rawValue: Int32(error.code))
        else { return "unreadable: \(error)" }
        return switch code {
        case .ENOENT: "no such file; give its path with --config"
        case .EISDIR: "is a directory, expected a YAML file"
        case .EACCES, .EPERM: "permission to read it is missing; see its owner and mode"
        case .ENOTDIR: "no such file: a part of the path is not a directory"
        case .ENAMETOOLONG: "no such file: the name is too long"
        default: "unreadable: \(POSIXError(code).localizedDescription)"
        }
    }
}
