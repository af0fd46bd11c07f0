import SwiftSyntax

/// How visible the generated members are.
struct WireAccess {
    /// `public `, `package ` or nothing; less visible types limit their members by themselves.
    var modifier: String
    /// Whether other modules may see the bodies.
    var isInlinable: Bool

    /// What stands before a member that satisfies a requirement and has an inlinable body.
    var hot: String { isInlinable ? "@inlinable \(modifier)" : modifier }

    /// What stands before a member that only the generated code uses.
    var support: String { isInlinable ? "@inlinable " : "private " }

    /// What stands before a support member whose body other modules must not see.
    var supportOpaque: String { isInlinable ? "@usableFromInline " : "private " }
}

extension WireAccess {
    /// The access of members of a declaration with `modifiers` inside `context`.
    ///
    /// Bodies are inlinable only if every enclosing declaration is as visible as the type: an
    /// extension does not say how visible the type that it extends is.
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

/// The access keyword among `modifiers`, if any; `private(set)` is none.
func accessKeyword(_ modifiers: DeclModifierListSyntax) -> String? {
    let known = ["open", "public", "package", "internal", "fileprivate", "private"]
    return modifiers.first { $0.detail == nil && known.contains($0.name.text) }?.name.text
}

private func extensionKeyword(_ context: [Syntax]) -> String? {
    context.first?.as(ExtensionDeclSyntax.self).flatMap { accessKeyword($0.modifiers) }
}
