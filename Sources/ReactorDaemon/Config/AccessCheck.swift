package import ReactorCore
import ReactorServer
import ReactorWire

/// Compares the rules of `access:` with the reactors of a tree.
///
/// A rule that names nothing would protect nothing: its path must lead to a node, and its actions
/// must be those of a node at or below its path. What a collection will contain is not known, so
/// paths and actions below one pass.
///
/// Rules hold for whole reactors: an action of a reactor may change and show every part of its state,
/// so a rule for a part would protect nothing either.
package struct AccessCheck {
    private let tree: Tree

    /// Checks rules against the nodes of `tree`.
    init(_ tree: Tree) { self.tree = tree }

    /// Checks the rules of `config` against the reactors of `root`.
    ///
    /// *Throws*: each rule that names a missing path or an unknown action.
    package static func check(
        _ config: DaemonConfig, of root: some Reactor
    ) throws(ConfigError) {
        guard let access = config.access else { return }
        let check = AccessCheck(Tree(root, epoch: 0, recordsDeltas: false))
        let problems = zip(access.rules, config.accessPlaces).enumerated().compactMap {
            (index, entry) in
            check.problem(of: entry.0).map {
                ConfigProblem($0, key: "access.rules[\(index)]", at: entry.1)
            }
        }
        if !problems.isEmpty { throw ConfigError(problems) }
    }

    /// The problem of a rule, with the remedy; nil if the rule fits.
    func problem(of rule: AccessRules.Rule) -> String? {
        let (node, rest) = tree.resolve(rule.path)
        if node.isCollection { return nil }
        if let name = rest.first {
            guard node.stateSchema.allows(rest) else { return missing(name, in: node) }
            let part = "\(ConfigProblem.quoted(name.text)) is a part of the state of \(node.path)"
            return "\(part): rules hold for whole reactors, name \(node.path)"
        }
        guard !rule.rights.actions.isEmpty, let known = cases(of: node) else { return nil }
        for name in rule.rights.actions.map(\.text).sorted() where !known.contains(name) {
            let noun = "unknown action \(ConfigProblem.quoted(name)) at and below \(node.path)"
            return noun + Self.hint(for: name, among: known.sorted())
        }
        return nil
    }

    private func missing(_ name: WireKey, in node: AnyNode) -> String {
        "no node \(ConfigProblem.quoted(name.text)) in \(node.path)"
            + Self.hint(for: name.text, among: node.children.keys.map(\.text).sorted())
    }

    private static func hint(for name: String, among known: [String]) -> String {
        if let nearest = NearestName.of(name, among: known) { return ", did you mean \(nearest)?" }
        return known.isEmpty ? "" : ", expected one of \(known.joined(separator: ", "))"
    }

    /// The cases of the actions of a node and of those below it; nil if not all are known.
    private func cases(of node: AnyNode) -> Set<String>? {
        if node.isCollection { return nil }
        var names: Set<String> = []
        switch node.actionSchema {
        case .choice(let choice): names.formUnion(choice.cases.map(\.name))
        // Without actions, as a group of reactors.
        case .record: break
        default: return nil
        }
        for child in node.children.values {
            guard let below = cases(of: child) else { return nil }
            names.formUnion(below)
        }
        return names
    }
}
