/// A Swift file of the repository, as the rules see it.
struct SourceFile {
    /// Path from the top of the repository: `Sources/ReactorWire/WireCursor.swift`.
    let path: String
    /// The original lines.
    let lines: [String]
    /// The lines without comments and without the contents of strings.
    let code: [String]
    /// The comments of each line.
    let comments: [String]

    /// Parses `text` as a file at `path`.
    init(path: String, text: String) {
        self.path = path
        let mask = SourceMask(text)
        lines = Self.split(text)
        code = Self.split(String(decoding: mask.code, as: UTF8.self))
        comments = Self.split(String(decoding: mask.comments, as: UTF8.self))
    }

    /// The top folder, such as `Sources` or `Tests`.
    var wing: String { components.first ?? "" }
    /// The target of the file: `ReactorWire`, or `tracker` below `Examples/Tracker`.
    var room: String {
        if components.count > 4, components[1] == "Examples" { return components[3] }
        return components.count > 2 ? components[1] : ""
    }
    /// The folder in the target; empty for a file that lies in none.
    var folder: String {
        let inner = components.dropFirst(components.dropFirst().first == "Examples" ? 4 : 2)
        return inner.count > 1 ? inner.first ?? "" : ""
    }
    /// The file's name without the extension: `WireCursor+Containers`.
    var name: String { String((components.last ?? "").dropLast(".swift".count)) }
    /// The type after which the file is named: `WireCursor`.
    var subject: String { String(name.prefix { $0 != "+" }) }
    /// Whether the file contains code.
    var hasCode: Bool { code.contains { !$0.allSatisfy(\.isWhitespace) } }

    /// Creates a finding in this file, at a line counted from 0.
    func finding(at line: Int, _ what: String, remedy: String) -> Finding {
        Finding(path: path, line: line + 1, what: what, remedy: remedy)
    }

    private var components: [String] { path.split(separator: "/").map(String.init) }

    private static func split(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}
