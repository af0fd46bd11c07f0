import SwiftSyntax
import SwiftSyntaxMacros

/// `@WireAlias`: `@WireCodable` reads it.
struct WireAliasMacro: WireMarkMacro {
    static let misplaced = (
        id: "aliasOnOther",
        message: "@WireAlias renames a stored property or an enum case; put it on one of these"
    )

    static func marks(_ declaration: some DeclSyntaxProtocol) -> Bool {
        declaration.is(VariableDeclSyntax.self) || declaration.is(EnumCaseDeclSyntax.self)
    }
}

/// `@WireRemoved`: `@WireCodable` reads it.
struct WireRemovedMacro: WireMarkMacro {
    static let misplaced = (
        id: "removedOnOther",
        message: "@WireRemoved names fields that a struct had once; put it on the struct"
    )

    static func marks(_ declaration: some DeclSyntaxProtocol) -> Bool {
        declaration.is(StructDeclSyntax.self)
    }
}

/// `@WireInternal`: `@WireCodable` reads it.
struct WireInternalMacro: WireMarkMacro {
    static let misplaced = (
        id: "internalOnOther",
        message: "@WireInternal marks actions that only the daemon sends; put it on an enum case"
    )

    static func marks(_ declaration: some DeclSyntaxProtocol) -> Bool {
        declaration.is(EnumCaseDeclSyntax.self)
    }
}

/// `@WireSecret`: `@WireCodable` reads it.
struct WireSecretMacro: WireMarkMacro {
    static let misplaced = (
        id: "secretOnOther",
        message: "@WireSecret hides a stored property, or the values of an enum case, from the "
            + "log; put it on one of these"
    )

    static func marks(_ declaration: some DeclSyntaxProtocol) -> Bool {
        declaration.is(VariableDeclSyntax.self) || declaration.is(EnumCaseDeclSyntax.self)
    }
}

/// A mark on a declaration, for another macro to read: it has no expansion.
protocol WireMarkMacro: PeerMacro {
    /// The diagnostic's identifier and message for a mark on any other declaration.
    static var misplaced: (id: String, message: String) { get }

    /// Whether the mark has a meaning on the declaration.
    static func marks(_ declaration: some DeclSyntaxProtocol) -> Bool
}

extension WireMarkMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if !marks(declaration) { context.refuse(node, misplaced.id, misplaced.message) }
        return []
    }
}

/// The field names in the `@WireRemoved` attributes.
func wireRemoved(
    _ attributes: AttributeListSyntax, in context: some MacroExpansionContext
) -> [WireBytes] {
    names("WireRemoved", in: attributes, context) { _ in }
}

/// The older names in the `@WireAlias` attributes; `declared` is the number of properties or cases
/// in the same declaration.
func wireAliases(
    _ attributes: AttributeListSyntax, declared: Int, in context: some MacroExpansionContext
) -> [WireBytes] {
    names("WireAlias", in: attributes, context) { attribute in
        if declared != 1 {
            context.refuse(
                attribute, "aliasOnSeveral",
                "@WireAlias renames one declaration; declare each on a separate line")
        }
    }
}

/// The arguments of all attributes called `attributeNamed`; calls `check` for each attribute.
private func names(
    _ attributeNamed: String, in attributes: AttributeListSyntax,
    _ context: some MacroExpansionContext, _ check: (AttributeSyntax) -> Void
) -> [WireBytes] {
    var names: [WireBytes] = []
    for case .attribute(let attribute) in attributes
    where attributeName(attribute) == attributeNamed {
        check(attribute)
        guard case .argumentList(let arguments) = attribute.arguments else { continue }
        for argument in arguments {
            guard let literal = argument.expression.as(StringLiteralExprSyntax.self),
                let name = plainContent(literal)
            else {
                context.refuse(
                    argument, "aliasNotLiteral",
                    "a name is read when compiling; write it as a plain string literal")
                continue
            }
            names.append(WireBytes(name))
        }
    }
    return names
}

/// The content of a literal without interpolations and escapes.
private func plainContent(_ literal: StringLiteralExprSyntax) -> String? {
    guard literal.segments.count <= 1 else { return nil }
    guard let first = literal.segments.first else { return "" }
    guard case .stringSegment(let segment) = first, !segment.content.text.contains("\\") else {
        return nil
    }
    return segment.content.text
}

/// The last component of an attribute's name.
func attributeName(_ attribute: AttributeSyntax) -> String {
    if let member = attribute.attributeName.as(MemberTypeSyntax.self) { return member.name.text }
    if let plain = attribute.attributeName.as(IdentifierTypeSyntax.self) { return plain.name.text }
    return attribute.attributeName.trimmedDescription
}
