import Yams

/// A configuration file's YAML as a tree with places, within bounds.
///
/// *Place*: takes the text of ``ConfigFile``; ``ConfigSection`` and ``ConfigValue`` read its nodes.
struct ConfigDocument {
    /// Most nodes after aliases are followed; one reactor without options takes four.
    static let nodesMax = 1 << 20
    /// Deepest nesting of mappings and lists.
    static let depthMax = 64
    /// Most uses of anchors.
    static let aliasesMax = 256

    let file: String
    let root: Node

    /// Parses one YAML document.
    ///
    /// *Throws*: the parser's complaint with its place; a file without content; one that grows
    /// beyond the bounds when its aliases are followed.
    init(text: String, file: String) throws(ConfigError) {
        self.file = file
        if text.utf8.contains(UInt8(ascii: "*")), text.utf8.contains(UInt8(ascii: "&")) {
            try Self.checkAliases(in: text, file: file)
        }
        guard let root = try Self.compose(text, file: file) else {
            throw ConfigError(
                ConfigProblem(
                    "empty; expected at least `reactors:` with one reactor",
                    at: ConfigPlace(file: file)))
        }
        self.root = root
        var nodes = 0
        try Self.walk(root, file: file, nodes: &nodes) { (_, _) throws(ConfigError) in }
    }

    /// Where a node stands.
    func place(of node: Node) -> ConfigPlace { Self.place(of: node, file: file) }

    private static func place(of node: Node, file: String) -> ConfigPlace {
        ConfigPlace(file: file, line: node.mark?.line ?? 0, column: node.mark?.column ?? 0)
    }

    // Scalars stay text (`basic`), because YAML 1.1 would make `no` a boolean and `12:30` a number.
    private static func compose(_ text: String, file: String) throws(ConfigError) -> Node? {
        do {
            return try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch {
            throw ConfigError(ConfigSyntax.problem(for: error, in: text, file: file))
        }
    }

    /// Refuses aliases that would make the parser itself grow without bound.
    ///
    /// The parser hashes every key, and a key that is or holds an alias may stand for a tree of any
    /// size. So the text is parsed once with every `*` masked, which leaves each alias a short
    /// plain scalar at the same place, and keys are checked there.
    private static func checkAliases(in text: String, file: String) throws(ConfigError) {
        let mask: Unicode.Scalar = "\u{E000}"
        let masked = String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0 == "*" ? mask : $0 }))
        guard let root = try compose(masked, file: file) else { return }
        var nodes = 0
        var aliases = 0
        try walk(root, file: file, nodes: &nodes) { (node, isKey) throws(ConfigError) in
            guard case .scalar(let scalar) = node, scalar.style == .plain,
                scalar.string.unicodeScalars.first == mask
            else { return }
            aliases += 1
            guard !isKey, aliases <= aliasesMax else {
                throw ConfigError(
                    ConfigProblem(
                        isKey
                            ? "an alias cannot be a key, write the name itself"
                            : "more than \(aliasesMax) aliases, write the values themselves",
                        at: place(of: node, file: file)))
            }
        }
    }

    /// Visits every node, keys too, and stops at the bounds.
    private static func walk(
        _ node: Node, file: String, depth: Int = 0, isKey: Bool = false, nodes: inout Int,
        visit: (_ node: Node, _ isKey: Bool) throws(ConfigError) -> Void
    ) throws(ConfigError) {
        nodes += 1
        let isScalar = node.scalar != nil
        let broken: String? =
            if nodes > nodesMax {
                "more than \(nodesMax) values when aliases are followed"
            } else if !isScalar && depth >= depthMax {
                "nested deeper than \(depthMax) levels"
            } else if isKey && !isScalar {
                "expected a name as key, got a mapping or list"
            } else if isKey, let key = node.scalar, key.style == .plain, key.string == "<<" {
                "merge keys are not supported, use an alias for a whole value"
            } else {
                nil
            }
        if let broken {
            throw ConfigError(ConfigProblem(broken, at: place(of: node, file: file)))
        }
        try visit(node, isKey)
        switch node {
        case .mapping(let mapping):
            for (key, value) in mapping {
                try walk(
                    key, file: file, depth: depth + 1, isKey: true, nodes: &nodes, visit: visit)
                try walk(value, file: file, depth: depth + 1, nodes: &nodes, visit: visit)
            }
        case .sequence(let sequence):
            for element in sequence {
                try walk(element, file: file, depth: depth + 1, nodes: &nodes, visit: visit)
            }
        case .scalar, .alias: break
        }
    }
}
