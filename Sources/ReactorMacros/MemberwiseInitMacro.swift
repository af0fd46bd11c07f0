import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@MemberwiseInit`: writes the initializer of a record's fields, with the access of the record.
///
/// The compiler's initializer is never visible outside of the module. An optional field without a
/// default is `nil` by default.
struct MemberwiseInitMacro: MemberMacro, FormattedMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let declaration = declaration.as(StructDeclSyntax.self) else {
            context.refuse(
                declaration, "notARecord",
                "@MemberwiseInit works on a struct, whose fields it sets")
            return []
        }
        guard let fields = storedFields(declaration, in: context), !fields.isEmpty else {
            return []
        }
        let access = WireAccess(declaration.modifiers, in: context.lexicalContext)
        let parameters = fields.map { field in
            let absent = field.type.hasSuffix("?") ? "nil" : nil
            let value = (field.defaultValue?.text ?? absent).map { " = \($0)" } ?? ""
            return "\(field.identifier): \(field.type)\(value)"
        }
        let lines =
            ["/// Makes a value of its fields."]
            + block(
                "\(access.modifier)init(\(parameters.joined(separator: ", ")))",
                fields.map { "self.\($0.identifier) = \($0.identifier)" })
        return [DeclSyntax(stringLiteral: lines.text)]
    }
}
