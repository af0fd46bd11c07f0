/// One Swift file of the tree, as the rules see it.
struct SourceFile {
    /// Path from the top of the repository: `Sources/ReactorWire/WireCursor.swift`.
    let path: String
    /// The lines as they are.
    let lines: [String]
    /// The lines without comments and the contents of strings.
    let code: [String]
    /// The lines' comments alone.
    let comments: [String]

    /// Makes a file of `text`, as if it stood at `path`.
    init(path: String, text: String) {
        self.path = path
        let mask = SourceMask(text)
        lines = Self.split(text)
        code = Self.split(String(decoding: mask.code, as: UTF8.self))
        comments = Self.split(String(decoding: mask.comments, as: UTF8.self))
    }

    /// The top folder: `Sources` or `Tests`, say.
    var wing: String { components.first ?? "" }
    /// The target that holds the file: `ReactorWire`, or `tracker` below `Examples/Tracker`.
    var room: String {
        if components.count > 4, components[1] == "Examples" { return components[3] }
        return components.count > 2 ? components[1] : ""
    }
    /// The file's name without the extension: `WireCursor+Containers`.
    var name: String { String((components.last ?? "").dropLast(".swift".count)) }
    /// The type whose file it is: `WireCursor`.
    var subject: String { String(name.prefix { $0 != "+" }) }
    /// Whether anything in it is compiled.
    var hasCode: Bool { code.contains { !$0.allSatisfy(\.isWhitespace) } }

    /// A fault in this file, at a line counted from 0.
    func finding(at line: Int, _ what: String, remedy: String) -> Finding {
        Finding(path: path, line: line + 1, what: what, remedy: remedy)
    }

    private var components: [String] { path.split(separator: "/").map(String.init) }

    private static func split(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}
