import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// A macro that writes its expansion with line breaks and indentation.
///
/// Formatting the parsed text once more is half of the work of an expansion, and the compiler
/// expands a type again in each process that sees it.
protocol FormattedMacro: Macro {}

extension FormattedMacro {
    static var formatMode: FormatMode { .disabled }
}

/// Lines of generated Swift code.
typealias Lines = [String]

extension [String] {
    /// The lines, each one level deeper.
    var indented: Lines { map { $0.isEmpty ? $0 : "    " + $0 } }

    /// The lines as one text.
    var text: String { joined(separator: "\n") }
}

/// `head {`, the body one level deeper, `}`.
func block(_ head: String, _ body: Lines) -> Lines {
    [head + " {"] + body.indented + ["}"]
}

/// The extension with this head, from the type's name on, and a body of these lines; empty if the
/// name is not that of a type.
func extensionDeclaration(_ head: String, _ body: Lines = []) -> [ExtensionDeclSyntax] {
    let declaration = DeclSyntax(stringLiteral: block("extension \(head)", body).text)
    return declaration.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
}

/// `if` with `tests`, on one line or, if that is too long, on a line each; `note` is the comment.
func condition(_ tests: [String], note: String) -> Lines {
    let line = "if \(tests.joined(separator: ", ")) {"
    if line.count <= 72 || tests.count == 1 { return commented(line, note) }
    let rest = tests.dropFirst()
    return ["if \(tests[0]),  // \(note)"] + rest.dropLast().map { "    \($0)," }
        + rest.suffix(1).map { "    \($0)" } + ["{"]
}

/// The line with a comment after it or, if that is too long, above it.
func commented(_ line: String, _ note: String) -> Lines {
    line.count + note.count > 72 ? ["// \(note)", line] : ["\(line)  // \(note)"]
}

/// A Swift string literal whose value is `content`.
func stringLiteral(_ content: String) -> String {
    var literal = "\""
    for scalar in content.unicodeScalars {
        switch scalar {
        case "\"": literal += "\\\""
        case "\\": literal += "\\\\"
        case "\n": literal += "\\n"
        case "\r": literal += "\\r"
        case "\t": literal += "\\t"
        case "\0": literal += "\\0"
        default: literal.unicodeScalars.append(scalar)
        }
    }
    return literal + "\""
}

/// A Swift array literal of string literals.
func stringArrayLiteral(_ contents: [String]) -> String {
    "[" + contents.map(stringLiteral).joined(separator: ", ") + "]"
}

/// The first paragraph of the doc comment before a declaration, as one line.
func docComment(_ declaration: some SyntaxProtocol) -> String {
    var lines: [String] = []
    for piece in declaration.leadingTrivia {
        switch piece {
        case .docLineComment(let text): lines.append(trimmed(text.dropFirst(3)))
        case .docBlockComment(let text): lines += blockLines(text)
        default: break
        }
    }
    let paragraph = lines.drop(while: \.isEmpty).prefix { !$0.isEmpty }
    return paragraph.joined(separator: " ")
}

private func blockLines(_ comment: String) -> [String] {
    comment.dropFirst(3).dropLast(2).split(separator: "\n", omittingEmptySubsequences: false).map {
        let line = trimmed($0)
        return line.hasPrefix("*") ? trimmed(line.dropFirst()) : line
    }
}

private func trimmed(_ text: some StringProtocol) -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
    var rest = Substring(text).drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return String(rest)
}
