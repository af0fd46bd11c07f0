import Yams

/// A mapping of the configuration, read key by key.
///
/// *Place*: a view of a ``ConfigDocument``'s node that knows its file and its key's path.
struct ConfigSection {
    /// One key with its value.
    struct Entry {
        let name: String
        /// The path from the top of the file, such as `limits.frameBytesMax`.
        let key: String
        /// Where the key stands.
        let place: ConfigPlace
        let value: Node
    }

    let document: ConfigDocument
    /// The path of the section's own key; empty at the top.
    let key: String
    let place: ConfigPlace
    /// In the order of the file; names are distinct.
    let entries: [Entry]

    /// The top of a file.
    init(_ document: ConfigDocument) throws(ConfigProblem) {
        try self.init(document.root, key: "", in: document, expected: "keys such as `reactors:`")
    }

    /// The section that stands under an entry's key; no value at all is an empty section, because
    /// that is what is left when every key in it is commented out.
    init(
        _ entry: Entry, in document: ConfigDocument, expected: String
    ) throws(ConfigProblem) {
        try self.init(entry.value, key: entry.key, in: document, expected: expected)
    }

    private init(
        _ node: Node, key: String, in document: ConfigDocument, expected: String
    ) throws(ConfigProblem) {
        self.document = document
        self.key = key
        place = document.place(of: node)
        switch node {
        case .mapping(let mapping):
            try ConfigValue.checkTag(of: node, key: key, at: place)
            entries = try mapping.map { (pair) throws(ConfigProblem) in
                try Self.entry(pair.key, pair.value, under: key, in: document)
            }
        case .scalar where ConfigValue.isNothing(node):
            entries = []
        default:
            throw ConfigProblem(
                expected: expected, got: ConfigValue.summary(of: node), key: key, at: place)
        }
    }

    private static func entry(
        _ node: Node, _ value: Node, under parent: String, in document: ConfigDocument
    ) throws(ConfigProblem) -> Entry {
        let place = document.place(of: node)
        guard case .scalar(let scalar) = node else {
            throw ConfigProblem(
                expected: "a name as key", got: ConfigValue.summary(of: node), key: parent,
                at: place)
        }
        let name = scalar.string
        return Entry(
            name: name, key: parent.isEmpty ? name : "\(parent).\(name)", place: place,
            value: value)
    }

    /// The problem of an entry that this section does not know.
    func unknown(_ entry: Entry, known: [String]) -> ConfigProblem {
        .unknown("key", entry.name, known: known, key: key, at: entry.place)
    }
}
