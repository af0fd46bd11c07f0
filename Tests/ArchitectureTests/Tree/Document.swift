/// A document, split into code blocks and prose.
struct Document {
    /// A code block.
    struct Block {
        /// The text after the opening fence: `swift`, `sh run`.
        var kind: String
        /// Its lines, each with its number, counted from 0.
        var lines: [(number: Int, text: String)] = []

        /// Whether the block is a package manifest, which no target compiles.
        var isManifest: Bool { lines.first?.text.hasPrefix("// swift-tools-version") ?? false }
    }

    /// The file extension of documents, split so that the rules do not take it for a document's
    /// name.
    static let suffix = "." + "md"

    /// Path from the top of the repository.
    let path: String
    let blocks: [Block]
    /// The lines outside the blocks, with their numbers, counted from 0.
    let prose: [(number: Int, text: String)]

    /// Parses `text` as a document at `path`.
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

    /// All documents of the repository.
    static var all: [Document] {
        Repository.current.paths.filter { $0.hasSuffix(suffix) }
            .map { Document(path: $0, text: Repository.text(at: $0)) }
    }

    /// The Swift blocks.
    var swift: [Block] { blocks.filter { $0.kind == "swift" } }

    /// Creates a finding in this document, at a line counted from 0.
    func finding(at line: Int, _ what: String, remedy: String) -> Finding {
        Finding(path: path, line: line + 1, what: what, remedy: remedy)
    }
}
