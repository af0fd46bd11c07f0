import ReactorYAML

/// The nodes of a YAML configuration file, with their places, within bounds.
///
/// *Place*: takes the text of ``ConfigFile``; ``ConfigSection`` and ``ConfigValue`` read its nodes.
struct ConfigDocument {
    /// Maximum number of nodes after aliases are resolved; a reactor without options has four.
    static let nodesMax = 1 << 20
    /// Maximum nesting of mappings and lists.
    static let depthMax = 64
    /// Maximum number of aliases.
    static let aliasesMax = 256
    /// The problem of a mapping or list below ``depthMax``.
    static let deepNesting = "nested deeper than \(depthMax) levels"

    let file: String
    let root: YAMLNode

    /// Parses one YAML document.
    ///
    /// *Throws*: a syntax error with its location, an empty file, or a document that exceeds the
    /// bounds once its aliases are resolved.
    init(text: String, file: String) throws(ConfigError) {
        self.file = file
        guard let root = try Self.compose(text, file: file) else {
            throw ConfigError(
                ConfigProblem(
                    "empty; expected at least `reactors:` with one reactor",
                    at: ConfigLocation(file: file)))
        }
        self.root = root
        var nodes = 0
        try check(root, depth: 0, nodes: &nodes)
    }

    /// The location of a node in the file.
    func location(of node: YAMLNode) -> ConfigLocation { location(of: node.mark) }

    /// The same location in this file.
    func location(of mark: YAMLMark) -> ConfigLocation {
        ConfigLocation(file: file, line: mark.line, column: mark.column)
    }

    private static func compose(
        _ text: String, file: String
    ) throws(ConfigError) -> YAMLNode? {
        let limits = YAMLLimits(depthMax: depthMax, aliasesMax: aliasesMax)
        do throws(YAMLError) { return try YAMLComposer.document(text, within: limits) } catch {
            throw ConfigError(ConfigSyntax.problem(for: error, in: text, file: file))
        }
    }

    /// Visits every node, including keys, and throws at the bounds.
    private func check(
        _ node: YAMLNode, depth: Int, nodes: inout Int
    ) throws(ConfigError) {
        try count(node.mark, &nodes)
        switch node.content {
        case .scalar: return
        case .sequence(let elements):
            try checkDepth(depth, node.mark)
            for element in elements { try check(element, depth: depth + 1, nodes: &nodes) }
        case .mapping(let pairs):
            try checkDepth(depth, node.mark)
            for pair in pairs {
                try count(pair.keyMark, &nodes)
                guard !pair.key.isPlain || pair.key.text != "<<" else {
                    throw refusal(
                        "merge keys are not supported, use an alias for a whole value",
                        pair.keyMark)
                }
                try check(pair.value, depth: depth + 1, nodes: &nodes)
            }
        }
    }

    private func count(_ mark: YAMLMark, _ nodes: inout Int) throws(ConfigError) {
        nodes += 1
        guard nodes <= Self.nodesMax else {
            throw refusal("more than \(Self.nodesMax) values with aliases resolved", mark)
        }
    }

    private func checkDepth(_ depth: Int, _ mark: YAMLMark) throws(ConfigError) {
        guard depth < Self.depthMax else { throw refusal(Self.deepNesting, mark) }
    }

    private func refusal(_ reason: String, _ mark: YAMLMark) -> ConfigError {
        ConfigError(ConfigProblem(reason, at: location(of: mark)))
    }
}
