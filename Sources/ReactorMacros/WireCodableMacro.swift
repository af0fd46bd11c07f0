import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@WireCodable`: codes a struct or an enum by its names.
///
/// The generated functions are members of the type, since an extension is at file scope and cannot
/// refer to the types beside a nested one. The extension adds the conformance, and the members that
/// the body cannot have: a struct's initialiser, which would remove the memberwise one, and the
/// schema of a generic type, which is a property with a condition.
struct WireCodableMacro: MemberMacro, FormattedMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let type = WireType(declaration, in: context) else {
            return substitute(for: declaration, in: context).map {
                DeclSyntax(stringLiteral: $0.text)
            }
        }
        let members: [Lines]
        switch type.kind {
        case .record(let fields, let removed):
            members = StructExpansion(type: type, fields: fields, removed: removed).members
        case .choice(let cases): members = EnumExpansion(type: type, cases: cases).members
        case .rawValue: members = []
        }
        return members.filter { !$0.isEmpty }.map { DeclSyntax(stringLiteral: $0.text) }
    }

    /// The members of a type with a mistake, which was reported: with them the type conforms, and
    /// the compiler reports nothing in addition. Empty if the type cannot conform.
    private static func substitute(
        for declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
    ) -> [Lines] {
        guard canConform(declaration, in: context) else { return [] }
        let access = WireAccess(declaration.modifiers, in: context.lexicalContext)
        let reason = "the type has a mistake"
        return [
            block("\(access.modifier)func encode(into writer: inout WireWriter)", []),
            [
                "\(access.modifier)static func decode(",
                "    _ bytes: Swift.Span<Swift.UInt8>, _ cursor: inout WireCursor",
            ]
                + block(
                    ") throws(WireError) -> Self",
                    ["throw WireError(.refused(\(stringLiteral(reason))), at: cursor.offset)"]),
            block("\(access.modifier)static var wireSchema: WireSchema", [".any"]),
        ]
    }

    /// Whether an extension can add the conformance, also to a type with a mistake.
    private static func canConform(
        _ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
    ) -> Bool {
        guard declaration.is(StructDeclSyntax.self) || declaration.is(EnumDeclSyntax.self) else {
            return false
        }
        return isReachable(declaration, in: SilentContext(context))
    }
}

extension WireCodableMacro: ExtensionMacro {
    /// The protocol of the extension. The compiler asks for its marker protocols as well: a type
    /// that is recursive has only the conformances that are written out while it is checked.
    static var conformance: TypeSyntax { "WireCodable" }

    private static func list(_ protocols: [TypeSyntax]) -> String {
        protocols.map(\.trimmedDescription).joined(separator: ", ")
    }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // The member role has reported all mistakes.
        let silent = SilentContext(context)
        guard let wireType = WireType(declaration, in: silent) else {
            guard !protocols.isEmpty, canConform(declaration, in: context) else { return [] }
            return extensionDeclaration("\(type.trimmed): \(list(protocols))")
        }
        var body: Lines = []
        if case .record(let fields, _) = wireType.kind {
            body += StructExpansion(type: wireType, fields: fields).initializer
        }
        if !wireType.unconstrained.isEmpty {
            body += block(
                "\(wireType.access.modifier)static var wireSchema: WireSchema",
                ["Self._wireSchema()"])
        }
        // The author may have written the conformance.
        let conformance = protocols.isEmpty ? "" : ": \(list(protocols))"
        if body.isEmpty, protocols.isEmpty { return [] }
        return extensionDeclaration("\(type.trimmed)\(conformance)\(wireType.whereClause)", body)
    }
}
