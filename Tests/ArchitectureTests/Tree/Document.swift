/// A text for people, as the rules see it.
struct Document {
    /// A block of code in it.
    struct Block {
        /// What stands behind the opening fence: `swift`, `sh run`.
        var kind: String
        /// Its lines, each with its number, counted from 0.
        var lines: [(number: Int, text: String)] = []

        /// Whether it is a package's manifest, which no target compiles.
        var isManifest: Bool { lines.first?.text.hasPrefix("// swift-tools-version") ?? false }
    }

    // because what looks like a document's name is looked for in the tree
    /// How the names of documents end.
    static let suffix = "." + "md"

    /// Path from the top of the repository.
    let path: String
    /// The blocks of code, in order.
    let blocks: [Block]
    /// The lines outside them, each with its number, counted from 0.
    let prose: [(number: Int, text: String)]

    /// Makes a document of `text`, as if it stood at `path`.
    init(path: String, text: String) {
        self.path = path
        var blocks: [Block] = []
        var prose: [(number: Int, text: String)] = []
        var block: Block?
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if line.hasPrefix("```") {
                if let whole = block { blocks.append(whole) }
                block = block == nil ? Block(kind: String(line.dropFirst(3))) : nil
            } else if block != nil {
                block?.lines.append((number, String(line)))
            } else {
                prose.append((number, String(line)))
            }
        }
        self.blocks = blocks
        self.prose = prose
    }

    /// The tree's documents.
    static var all: [Document] {
        Repository.current.paths.filter { $0.hasSuffix(suffix) }
            .map { Document(path: $0, text: Repository.text(at: $0)) }
    }

    /// The blocks in Swift.
    var swift: [Block] { blocks.filter { $0.kind == "swift" } }

    /// A fault in this document, at a line counted from 0.
    func finding(at line: Int, _ what: String, remedy: String) -> Finding {
        Finding(path: path, line: line + 1, what: what, remedy: remedy)
    }
}
