import ReactorLoop
import ReactorServer
import ReactorWire
import ReactorYAML

/// Reads the `access:` section.
struct ConfigAccess {
    /// The rules of the section.
    private(set) var rules = AccessRules()
    /// Where each of the rules stands.
    private(set) var places: [ConfigLocation] = []
    /// The problems found in the section.
    private(set) var problems: [ConfigProblem] = []

    private static let keys = ["default", "rules"]
    private static let ruleKeys = ["path", "to", "may"]
    /// Rights by the names that stand alone.
    private static let grants: [(name: String, rights: AccessRights)] = [
        ("none", .none), ("see", AccessRights(.see)), ("read", AccessRights(.read)),
        ("use", .use),
    ]
    private static let verbNames = AccessVerbs.named.map(\.name)

    init(_ section: ConfigSection) {
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
        switch entry.name {
        case "default":
            let scalar = ConfigScalar(entry, in: section.document)
            let names = Self.grants.map(\.name).joined(separator: ", ")
            let name = try scalar.text(expected: "one of \(names)")
            guard let grant = Self.grants.first(where: { $0.name == name }) else {
                throw scalar.problem(expected: "one of \(names)")
            }
            rules.fallback = grant.rights
        case "rules":
            for (index, node) in try Self.list(entry, "a list of rules", in: section).enumerated() {
                let key = "\(entry.key)[\(index)]"
                do throws(ConfigProblem) {
                    rules.rules.append(try Self.rule(node, key, in: section.document))
                    places.append(section.document.location(of: node))
                } catch {
                    problems.append(error)
                }
            }
        default: throw section.unknown(entry, known: Self.keys)
        }
    }

    private static func list(
        _ entry: ConfigSection.Entry, _ expectation: String, in section: ConfigSection
    ) throws(ConfigProblem) -> [YAMLNode] {
        if case .sequence(let nodes) = entry.value.content { return nodes }
        if ConfigValue.isNothing(entry.value) { return [] }
        throw ConfigScalar(entry, in: section.document).problem(expected: expectation)
    }

    private static func rule(
        _ node: YAMLNode, _ key: String, in document: ConfigDocument
    ) throws(ConfigProblem) -> AccessRules.Rule {
        let expectation = "a rule such as `{path: /jobs, to: {group: staff}, may: use}`"
        let section = try ConfigSection(item: node, key: key, in: document, expected: expectation)
        var (path, subject, rights): (SlicePath?, AccessRules.Subject?, AccessRights?)
        for entry in section.entries {
            switch entry.name {
            case "path": path = try self.path(ConfigScalar(entry, in: document))
            case "to": subject = try ConfigCaller.subject(entry, in: document)
            case "may": rights = try self.rights(entry, in: section)
            default: throw section.unknown(entry, known: ruleKeys)
            }
        }
        guard let path, let subject, let rights else {
            let missing = ruleKeys.filter { name in !section.entries.contains { $0.name == name } }
            throw ConfigProblem(
                "a rule needs path, to and may: \(missing.joined(separator: " and ")) is missing",
                key: key, at: section.location)
        }
        return AccessRules.Rule(path, to: subject, may: rights)
    }

    private static func path(_ scalar: ConfigScalar) throws(ConfigProblem) -> SlicePath {
        let text = try scalar.text(expected: "a path such as /team/secret")
        do throws(SlicePathError) {
            return try SlicePath(text)
        } catch {
            throw scalar.problem(error.description)
        }
    }

    // MARK: Rights

    private static func rights(
        _ entry: ConfigSection.Entry, in section: ConfigSection
    ) throws(ConfigProblem) -> AccessRights {
        let document = section.document
        guard case .sequence(let nodes) = entry.value.content else {
            return try rights(ConfigScalar(entry, in: document), standsAlone: true)
        }
        var rights = AccessRights.none
        for (index, node) in nodes.enumerated() {
            let item = ConfigSection.Entry(
                name: entry.name, key: "\(entry.key)[\(index)]",
                location: document.location(of: node), value: node)
            rights = rights.union(try self.rights(item: item, in: document))
        }
        guard rights != .none else {
            throw ConfigProblem(
                expected: "verbs, or `none`", got: "an empty list", key: entry.key,
                at: entry.location)
        }
        return rights
    }

    private static func rights(
        item: ConfigSection.Entry, in document: ConfigDocument
    ) throws(ConfigProblem) -> AccessRights {
        guard item.value.isMapping else {
            return try rights(ConfigScalar(item, in: document), standsAlone: false)
        }
        let section = try ConfigSection(item, in: document, expected: "`actions:`")
        var names: Set<WireKey> = []
        for entry in section.entries {
            guard entry.name == "actions" else { throw section.unknown(entry, known: ["actions"]) }
            let nodes = try list(
                entry, "a list of actions' cases, such as [claim, finish]", in: section)
            for (index, node) in nodes.enumerated() {
                let name = ConfigSection.Entry(
                    name: entry.name, key: "\(entry.key)[\(index)]",
                    location: document.location(of: node), value: node)
                let text = try ConfigScalar(name, in: document).text(expected: "a case's name")
                names.insert(WireKey(text))
            }
        }
        return AccessRights([], actions: names)
    }

    private static func rights(
        _ scalar: ConfigScalar, standsAlone: Bool
    ) throws(ConfigProblem) -> AccessRights {
        let grants = standsAlone ? grants : grants.filter { $0.name != "none" }
        let names =
            grants.map(\.name)
            + verbNames.filter { name in
                !grants.contains { $0.name == name }
            }
        let expectation = "one of \(names.joined(separator: ", "))"
        let name = try scalar.text(expected: expectation)
        if let grant = grants.first(where: { $0.name == name }) { return grant.rights }
        guard let verb = AccessVerbs.named.first(where: { $0.name == name })?.verb else {
            throw scalar.problem(expected: expectation)
        }
        return AccessRights(verb)
    }
}

extension AccessRules {
    /// The rules, for `reactord --check`: each path with its callers and their rights.
    var rows: [(String, String)] {
        [("default", fallback.text)]
            + rules.map { ($0.path.description, "\($0.subject.text): \($0.rights.text)") }
    }
}

extension AccessRights {
    fileprivate var text: String {
        if self == .none { return "none" }
        let names = AccessVerbs.named.filter { verbs.contains($0.verb) }.map(\.name)
        let cases = actions.map { ConfigProblem.escaped($0.text) }.sorted()
        return (names + (cases.isEmpty ? [] : ["actions \(cases.joined(separator: " "))"]))
            .joined(separator: ", ")
    }
}
