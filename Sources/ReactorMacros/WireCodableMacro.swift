import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@WireCodable`: codes a struct or an enum by its names.
///
/// The bodies are members of the type, because an extension stands at file scope and does not see
/// the types beside a nested one. The extension adds the conformance, and what may not stand in
/// the body: a struct's initialiser (it would take the memberwise one away) and the schema of a
/// generic type (a property with a condition).
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
    /// The protocol that the extension conforms the type to.
    static var conformance: TypeSyntax { "WireCodable" }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // because the member role already said what is wrong
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
        // because an author may have written the conformance already
        let conformance = protocols.isEmpty ? "" : ": \(Self.conformance)"
        if body.isEmpty, protocols.isEmpty { return [] }
        let lines = block("extension \(type.trimmed)\(conformance)\(wireType.whereClause)", body)
        guard let declaration = DeclSyntax(stringLiteral: lines.text).as(ExtensionDeclSyntax.self)
        else { return [] }
        return [declaration]
    }
}
