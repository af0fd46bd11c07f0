import ReactorLoop
import ReactorYAML

/// Reads the `socket:` key: a path, or a section with the path, the mode and the group.
struct ConfigSocket {
    /// The socket's path; nil lets the environment choose.
    private(set) var path: String?
    /// Which users may connect.
    private(set) var permissions = SocketPermissions()
    /// The problems found in the section.
    private(set) var problems: [ConfigProblem] = []

    private static let keys = ["path", "mode", "group"]
    private static let pathExpectation =
        "an absolute path, or no `socket:` to let the environment choose"

    /// *Throws*: if the value is neither a path nor a section.
    init(_ entry: ConfigSection.Entry, in document: ConfigDocument) throws(ConfigProblem) {
        guard entry.value.isMapping else {
            path = try Self.path(ConfigScalar(entry, in: document), expected: Self.pathExpectation)
            return
        }
        let section = try ConfigSection(entry, in: document, expected: "keys such as `path:`")
        for entry in section.entries {
            do throws(ConfigProblem) {
                try read(entry, of: section)
            } catch {
                problems.append(error)
            }
        }
    }

    private mutating func read(
        _ entry: ConfigSection.Entry, of section: ConfigSection
    ) throws(ConfigProblem) {
        let scalar = ConfigScalar(entry, in: section.document)
        switch entry.name {
        case "path": path = try Self.path(scalar, expected: Self.pathExpectation)
        case "mode": permissions.mode = try Self.mode(scalar)
        case "group":
            let name = try scalar.text(expected: "the name of a group")
            guard let gid = AccountNames.gid(ofGroup: name) else {
                throw scalar.problem(
                    "there is no group \(ConfigProblem.quoted(name)): make it, or name another")
            }
            permissions.gid = gid
        default: throw section.unknown(entry, known: Self.keys)
        }
    }

    /// The path of a socket.
    static func path(
        _ scalar: ConfigScalar, expected expectation: String
    ) throws(ConfigProblem) -> String {
        let path = try scalar.text(expected: expectation)
        if let refusal = SocketPathError(path) { throw scalar.problem(refusal.description) }
        return path
    }

    private static func mode(_ scalar: ConfigScalar) throws(ConfigProblem) -> UInt32 {
        let expectation = "four octal digits such as \"0660\", in which the owner has 6 or 7"
        let text = try scalar.text(expected: expectation)
        guard text.utf8.count == 4, let mode = UInt32(text, radix: 8), mode & ~0o777 == 0,
            mode & 0o600 == 0o600
        else { throw scalar.problem(expected: expectation) }
        return mode
    }
}

extension YAMLNode {
    /// Whether the node is a mapping.
    var isMapping: Bool {
        if case .mapping = content { true } else { false }
    }
}
