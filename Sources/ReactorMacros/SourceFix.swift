import SwiftDiagnostics
import SwiftSyntax

/// A change of the source that mends a mistake; an editor offers it beside the message.
struct SourceFix {
    /// What the change does, in words that follow a bullet: `insert 'final'`.
    var title: String
    fileprivate var edits: [Edit]

    /// Text that takes the place of a part of the source.
    fileprivate struct Edit {
        var range: Range<AbsolutePosition>
        var text: String
        var node: Syntax
    }

    /// The change as the compiler wants it.
    var fixIt: FixIt {
        FixIt(
            message: Title(title),
            changes: edits.map { edit in
                .replaceText(range: edit.range, with: edit.text, in: edit.node)
            })
    }

    private struct Title: FixItMessage {
        let message: String

        init(_ message: String) { self.message = message }

        var fixItID: MessageID { MessageID(domain: "ReactorMacros", id: message) }
    }
}

// MARK: - The kinds of change
extension SourceFix {
    /// Writes `text` where `node` stands, and leaves the space around it.
    static func replace(_ node: some SyntaxProtocol, with text: String, _ title: String) -> Self {
        let range =
            node.positionAfterSkippingLeadingTrivia..<node.endPositionBeforeTrailingTrivia
        return SourceFix(
            title: title, edits: [Edit(range: range, text: text, node: Syntax(node))])
    }

    /// Takes `node` out, with the space behind it.
    static func remove(_ node: some SyntaxProtocol, _ title: String) -> Self {
        let range = node.positionAfterSkippingLeadingTrivia..<node.endPosition
        return SourceFix(title: title, edits: [Edit(range: range, text: "", node: Syntax(node))])
    }

    /// Writes `text` before `node`.
    static func insert(_ text: String, before node: some SyntaxProtocol, _ title: String) -> Self {
        let place = node.positionAfterSkippingLeadingTrivia
        return SourceFix(
            title: title, edits: [Edit(range: place..<place, text: text, node: Syntax(node))])
    }

    /// Writes `text` behind `node`.
    static func insert(_ text: String, after node: some SyntaxProtocol, _ title: String) -> Self {
        let place = node.endPositionBeforeTrailingTrivia
        return SourceFix(
            title: title, edits: [Edit(range: place..<place, text: text, node: Syntax(node))])
    }

    /// Makes `other`'s change as well.
    func and(_ other: SourceFix) -> Self {
        SourceFix(title: title, edits: edits + other.edits)
    }
}

// MARK: - Changes of declarations
extension SourceFix {
    /// Makes a declaration as visible as `access` says.
    static func access(_ access: String, of declaration: any DeclSyntaxProtocol) -> Self? {
        let modifiers = declaration.asProtocol((any WithModifiersSyntax).self)?.modifiers
        let title = "declare it \(access)"
        if let word = modifiers?.first(where: isAccessWord) {
            return .replace(word, with: access, title)
        }
        guard let start = modifiers?.first.map({ Syntax($0) }) ?? introducer(of: declaration)
        else { return nil }
        return .insert(access + " ", before: start, title)
    }

    /// Puts an attribute before a declaration, on a line of its own.
    static func attribute(_ name: String, on declaration: any DeclSyntaxProtocol) -> Self {
        let indentation = SourceFix.indentation(of: declaration)
        return .insert("\(name)\n\(indentation)", before: declaration, "insert '\(name)'")
    }

    /// Declares `member` at the top of a type's body, each line as deep as members stand there.
    static func member(
        _ member: Lines, of declaration: any DeclGroupSyntax, _ title: String
    ) -> Self {
        let outer = indentation(of: declaration)
        let text = member.map { "\n" + outer + "    " + $0 }.joined()
        let block = declaration.memberBlock
        // because the brace of an empty body may stand on the same line
        let isClosed = block.members.isEmpty && !block.rightBrace.leadingTrivia.hasLineBreak
        return .insert(text + (isClosed ? "\n" + outer : ""), after: block.leftBrace, title)
    }

    /// Makes a class a struct.
    static func structure(insteadOf type: ClassDeclSyntax) -> Self {
        let keyword = SourceFix.replace(type.classKeyword, with: "struct", "declare it as a struct")
        guard let word = type.modifiers.first(where: { $0.name.tokenKind == .keyword(.final) })
        else { return keyword }
        return keyword.and(.remove(word, ""))
    }

    private static func isAccessWord(_ modifier: DeclModifierSyntax) -> Bool {
        accessKeyword([modifier]) != nil
    }

    private static func introducer(of declaration: any DeclSyntaxProtocol) -> Syntax? {
        if let group = declaration.asProtocol((any DeclGroupSyntax).self) {
            return Syntax(group.introducer)
        }
        return declaration.as(TypeAliasDeclSyntax.self).map { Syntax($0.typealiasKeyword) }
    }

    /// The space before the first word on a declaration's line.
    private static func indentation(of declaration: some SyntaxProtocol) -> String {
        let pieces = declaration.leadingTrivia.pieces
        let line = pieces.lastIndex { $0.isNewline }.map { pieces[($0 + 1)...] } ?? pieces[...]
        return line.reduce(into: "") { text, piece in
            switch piece {
            case .spaces(let count): text += String(repeating: " ", count: count)
            case .tabs(let count): text += String(repeating: "\t", count: count)
            default: break
            }
        }
    }
}

extension Trivia {
    /// Whether it holds the end of a line.
    fileprivate var hasLineBreak: Bool { pieces.contains { $0.isNewline } }
}
