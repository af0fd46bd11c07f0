/// The name of a daemon, from which the default paths of its socket and its data are made.
///
/// *Shape*: 1 to ``byteCountMax`` bytes of UTF-8; no slash, no control character, not `.` or `..`.
package struct DaemonName: Hashable, Sendable {
    /// Maximum length in bytes: the longest default path of a socket, `/tmp/NAME-UID/NAME.sock` with
    /// a user id of ten digits, has at most ``SocketPathError/pathBytesMax`` bytes.
    package static let byteCountMax = 42
    /// The daemon of this project.
    package static let reactord = DaemonName(known: "reactord")

    /// The name.
    package let text: String

    private init(known text: String) { self.text = text }

    /// Checks a name.
    package init(_ text: String) throws(DaemonNameError) {
        if let condition = Self.fault(of: text) {
            throw DaemonNameError(name: text, condition: condition)
        }
        self.text = text
    }

    private static func fault(of text: String) -> DaemonNameError.Condition? {
        if text.isEmpty { return .empty }
        if text == "." || text == ".." { return .directory }
        if text.utf8.contains(UInt8(ascii: "/")) { return .slash }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return .control
        }
        return text.utf8.count > byteCountMax ? .tooLong : nil
    }
}

/// The reason why a text cannot be the name of a daemon.
public struct DaemonNameError: Error, Equatable, Sendable {
    /// The possible faults of a name.
    package enum Condition: Equatable, Sendable {
        case empty
        case slash
        case directory
        case control
        case tooLong
    }

    /// The faulty name.
    package let name: String
    /// The fault.
    package let condition: Condition
}

extension DaemonNameError: CustomStringConvertible {
    public var description: String {
        let reason =
            switch condition {
            case .empty: "is empty, expected a name such as tracker-daemon"
            case .slash: "contains a slash, expected the name of a file, such as tracker-daemon"
            case .directory: "names a directory, expected a name such as tracker-daemon"
            case .control: "contains a control character"
            case .tooLong:
                "has \(name.utf8.count) bytes, expected at most \(DaemonName.byteCountMax), so that "
                    + "the path of its socket fits"
            }
        let shown = name.unicodeScalars.map { $0.escaped(asASCII: false) }.joined()
        return "daemon name \"\(shown)\" \(reason)"
    }
}
