import SwiftDiagnostics
import SwiftSyntax

/// A change of the source that corrects a mistake; an editor offers it with the message.
struct SourceFix {
    /// The title of the change, which follows a bullet: `insert 'final'`.
    var title: String
    fileprivate var edits: [Edit]

    /// Text that replaces a part of the source.
    fileprivate struct Edit {
        var range: Range<AbsolutePosition>
        var text: String
        var node: Syntax
    }

    /// The change in the compiler's form.
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
    /// Replaces `node` with `text`, and keeps the surrounding space.
    static func replace(_ node: some SyntaxProtocol, with text: String, _ title: String) -> Self {
        let range =
            node.positionAfterSkippingLeadingTrivia..<node.endPositionBeforeTrailingTrivia
        return SourceFix(
            title: title, edits: [Edit(range: range, text: text, node: Syntax(node))])
    }

    /// Removes `node`, with the space after it.
    static func remove(_ node: some SyntaxProtocol, _ title: String) -> Self {
        let range = node.positionAfterSkippingLeadingTrivia..<node.endPosition
        return SourceFix(title: title, edits: [Edit(range: range, text: "", node: Syntax(node))])
    }

    /// Inserts `text` before `node`.
    static func insert(_ text: String, before node: some SyntaxProtocol, _ title: String) -> Self {
        let place = node.positionAfterSkippingLeadingTrivia
        return SourceFix(
            title: title, edits: [Edit(range: place..<place, text: text, node: Syntax(node))])
    }

    /// Inserts `text` after `node`.
    static func insert(_ text: String, after node: some SyntaxProtocol, _ title: String) -> Self {
        let place = node.endPositionBeforeTrailingTrivia
        return SourceFix(
            title: title, edits: [Edit(range: place..<place, text: text, node: Syntax(node))])
    }

    /// Combines this change with `other`.
    func and(_ other: SourceFix) -> Self {
        SourceFix(title: title, edits: edits + other.edits)
    }
}

// MARK: - Changes of declarations
extension SourceFix {
    /// Gives a declaration the access level `access`.
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

    /// Inserts an attribute before a declaration, on a line of its own.
    static func attribute(_ name: String, on declaration: any DeclSyntaxProtocol) -> Self {
        let indentation = SourceFix.indentation(of: declaration)
        return .insert("\(name)\n\(indentation)", before: declaration, "insert '\(name)'")
    }

    /// Declares `member` at the top of a type's body, indented like its members.
    static func member(
        _ member: Lines, of declaration: any DeclGroupSyntax, _ title: String
    ) -> Self {
        let outer = indentation(of: declaration)
        let text = member.map { "\n" + outer + "    " + $0 }.joined()
        let block = declaration.memberBlock
        // The brace of an empty body may be on the same line.
        let isClosed = block.members.isEmpty && !block.rightBrace.leadingTrivia.hasLineBreak
        return .insert(text + (isClosed ? "\n" + outer : ""), after: block.leftBrace, title)
    }

    /// Changes a class to a struct.
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

    /// The indentation of a declaration's line.
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
    /// Whether the text contains a line break.
    fileprivate var hasLineBreak: Bool { pieces.contains { $0.isNewline } }
}
