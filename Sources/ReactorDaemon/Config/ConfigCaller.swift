import ReactorLoop
import ReactorServer
import ReactorYAML

/// Reads the callers that a rule names, in `access:` and `quotas:`.
enum ConfigCaller {
    private static let callers = ["user", "uid", "group", "gid"]

    /// Reads the value of `to:`.
    static func subject(
        _ entry: ConfigSection.Entry, in document: ConfigDocument
    ) throws(ConfigProblem) -> AccessRules.Subject {
        let expectation = "anyone, or one of {user: NAME}, {uid: N}, {group: NAME}, {gid: N}"
        if entry.value.scalar != nil {
            let scalar = ConfigScalar(entry, in: document)
            guard try scalar.text(expected: expectation) == "anyone" else {
                throw scalar.problem(expected: expectation)
            }
            return .anyone
        }
        let section = try ConfigSection(entry, in: document, expected: expectation)
        guard section.entries.count == 1, let caller = section.entries.first else {
            throw ConfigProblem(
                expected: expectation, got: "\(section.entries.count) keys", key: entry.key,
                at: entry.location)
        }
        let scalar = ConfigScalar(caller, in: document)
        switch caller.name {
        case "user":
            let name = try scalar.text(expected: "the name of a user")
            if let uid = AccountNames.uid(ofUser: name) { return .uid(uid) }
            throw scalar.problem("there is no user \(ConfigProblem.quoted(name)): write its uid")
        case "group":
            let name = try scalar.text(expected: "the name of a group")
            if let gid = AccountNames.gid(ofGroup: name) { return .gid(gid) }
            throw scalar.problem("there is no group \(ConfigProblem.quoted(name)): write its gid")
        case "uid": return .uid(try number(scalar))
        case "gid": return .gid(try number(scalar))
        default: throw section.unknown(caller, known: callers)
        }
    }

    private static func number(_ scalar: ConfigScalar) throws(ConfigProblem) -> UInt32 {
        let expectation = "a number below \(AccessRules.Subject.unknownUID), or above 65535"
        guard let number = UInt32(try scalar.text(expected: expectation)),
            number != AccessRules.Subject.unknownUID
        else { throw scalar.problem(expected: expectation) }
        return number
    }
}

extension AccessRules.Subject {
    /// The callers, for `reactord --check`.
    var text: String {
        switch self {
        case .anyone: "anyone"
        case .uid(let uid): "uid \(uid)"
        case .gid(let gid): "gid \(gid)"
        }
    }
}
