import SwiftSyntax

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
