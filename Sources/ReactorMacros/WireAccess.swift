import SwiftSyntax

/// The visibility of the generated members.
struct WireAccess {
    /// `public `, `package ` or empty; the members of less visible types are limited by the type.
    var modifier: String
    /// Whether other modules may see the bodies.
    var isInlinable: Bool

    /// The prefix of a member that fulfils a requirement and has an inlinable body.
    var hot: String { isInlinable ? "@inlinable \(modifier)" : modifier }

    /// The prefix of a member that only generated code uses.
    var support: String { isInlinable ? "@inlinable " : "private " }

    /// The prefix of a support member whose body other modules must not see.
    var supportOpaque: String { isInlinable ? "@usableFromInline " : "private " }
}

extension WireAccess {
    /// The access of members of a declaration with `modifiers` inside `context`.
    ///
    /// Bodies are inlinable only if every enclosing declaration is as visible as the type: an
    /// extension does not state how visible its extended type is.
    init(_ modifiers: DeclModifierListSyntax, in context: [Syntax]) {
        let own = accessKeyword(modifiers) ?? extensionKeyword(context)
        switch own {
        case "public", "open": modifier = "public "
        case "package": modifier = "package "
        default: modifier = ""
        }
        let isVisible = context.allSatisfy { enclosing in
            guard let group = enclosing.asProtocol((any DeclGroupSyntax).self),
                !enclosing.is(ExtensionDeclSyntax.self)
            else { return false }
            let keyword = accessKeyword(group.modifiers)
            return keyword == "public" || keyword == "open"
        }
        isInlinable = modifier == "public " && isVisible
    }
}

/// The access keyword among `modifiers`, if any; `private(set)` does not count.
func accessKeyword(_ modifiers: DeclModifierListSyntax) -> String? {
    let known = ["open", "public", "package", "internal", "fileprivate", "private"]
    return modifiers.first { $0.detail == nil && known.contains($0.name.text) }?.name.text
}

private func extensionKeyword(_ context: [Syntax]) -> String? {
    context.first?.as(ExtensionDeclSyntax.self).flatMap { accessKeyword($0.modifiers) }
}
