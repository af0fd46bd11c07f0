import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@WireCodable`: codes a struct or an enum by its names.
///
/// The generated functions are members of the type, since an extension is at file scope and cannot
/// refer to the types beside a nested one. The extension adds the conformance, and the members that
/// the body cannot have: a struct's initialiser, which would remove the memberwise one, and the
/// schema of a generic type, which is a property with a condition.
struct WireCodableMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let type = WireType(declaration, in: context) else { return [] }
        let members: [Lines]
        switch type.kind {
        case .record(let fields, let removed):
            members = StructExpansion(type: type, fields: fields, removed: removed).members
        case .choice(let cases): members = EnumExpansion(type: type, cases: cases).members
        case .rawValue: members = []
        }
        return members.filter { !$0.isEmpty }.map { DeclSyntax(stringLiteral: $0.text) }
    }
}

extension WireCodableMacro: ExtensionMacro {
    /// The protocol of the extension.
    static var conformance: TypeSyntax { "WireCodable" }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // The member role has reported all mistakes.
        let silent = SilentContext(context)
        guard let wireType = WireType(declaration, in: silent) else { return [] }
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
        let conformance = protocols.isEmpty ? "" : ": \(Self.conformance)"
        if body.isEmpty, protocols.isEmpty { return [] }
        let lines = block("extension \(type.trimmed)\(conformance)\(wireType.whereClause)", body)
        guard let declaration = DeclSyntax(stringLiteral: lines.text).as(ExtensionDeclSyntax.self)
        else { return [] }
        return [declaration]
    }
}
