import ReactorYAML

/// A mapping in the configuration, as a list of keys and values.
///
/// *Place*: a view of a node of ``ConfigDocument``, with its file and the path of its key.
struct ConfigSection {
    /// One key with its value.
    struct Entry {
        let name: String
        /// The path from the top of the file, such as `limits.frameBytesMax`.
        let key: String
        /// The location of the key.
        let location: ConfigLocation
        let value: YAMLNode
    }

    let document: ConfigDocument
    /// The path of the section's own key; empty at the top.
    let key: String
    let location: ConfigLocation
    /// In the order of the file; names are distinct.
    let entries: [Entry]

    /// Reads the top level of a file.
    init(_ document: ConfigDocument) throws(ConfigProblem) {
        try self.init(document.root, key: "", in: document, expected: "keys such as `reactors:`")
    }

    /// Reads the section under an entry's key. A missing value is an empty section: that is what
    /// remains when all its keys are commented out.
    init(
        _ entry: Entry, in document: ConfigDocument, expected: String
    ) throws(ConfigProblem) {
        try self.init(entry.value, key: entry.key, in: document, expected: expected)
    }

    /// Reads a mapping that is an item of a list.
    init(
        item node: YAMLNode, key: String, in document: ConfigDocument, expected: String
    ) throws(ConfigProblem) {
        try self.init(node, key: key, in: document, expected: expected)
    }

    private init(
        _ node: YAMLNode, key: String, in document: ConfigDocument, expected: String
    ) throws(ConfigProblem) {
        self.document = document
        self.key = key
        location = document.location(of: node)
        switch node.content {
        case .mapping(let pairs):
            try ConfigValue.checkTag(of: node, key: key, at: location)
            entries = pairs.map { Self.entry($0, under: key, in: document) }
        case .scalar where ConfigValue.isNothing(node):
            entries = []
        default:
            throw ConfigProblem(
                expected: expected, got: ConfigValue.summary(of: node), key: key, at: location)
        }
    }

    private static func entry(
        _ pair: YAMLPair, under parent: String, in document: ConfigDocument
    ) -> Entry {
        let name = pair.key.text
        return Entry(
            name: name, key: parent.isEmpty ? name : "\(parent).\(name)",
            location: document.location(of: pair.keyMark), value: pair.value)
    }

    /// Passes each entry to `read`; returns the problems that it throws.
    func problems(
        reading read: (Entry) throws(ConfigProblem) -> Void
    ) -> [ConfigProblem] {
        var problems: [ConfigProblem] = []
        for entry in entries {
            do throws(ConfigProblem) { try read(entry) } catch { problems.append(error) }
        }
        return problems
    }

    /// Creates the problem for an entry with an unknown key.
    func unknown(_ entry: Entry, known: [String]) -> ConfigProblem {
        .unknown("key", entry.name, known: known, key: key, at: entry.location)
    }
}
