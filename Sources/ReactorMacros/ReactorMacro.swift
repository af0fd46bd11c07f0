import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Reactor`: makes a struct or a final class a reactor.
///
/// As member attribute it puts `@WireCodable` on the nested types that travel; as member it wires
/// the children and fills in what follows from the rest; as extension it adds the conformance.
struct ReactorMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let reactor = ReactorType(declaration, in: context) else {
            context.refuse(
                declaration.introducer, "notAReactor",
                "@Reactor works on a struct or a final class: its functions are the rules, its "
                    + "nested State is what changes")
            return []
        }
        ReactorChecks(reactor: reactor, context: context).run()
        return members(of: reactor).map { DeclSyntax(stringLiteral: $0.text) }
    }

    private static func members(of reactor: ReactorType) -> [Lines] {
        var members: [Lines] = []
        if reactor.properties["initialState"] == nil, reactor.stateHasDefault {
            members.append(block("\(reactor.modifier)var initialState: State", ["State()"]))
        }
        if !reactor.childProperties.isEmpty, reactor.functions(named: "children").isEmpty {
            members.append(
                block(
                    "\(reactor.modifier)func children(_ visitor: inout ChildVisitor)",
                    reactor.childProperties.map { child in
                        let name = child.name.text
                        return "visitor.\(child.verb)(\(stringLiteral(name)), self._\(name))"
                    }))
        }
        if !reactor.functions(named: "react").isEmpty, reactor.properties["isReacting"] == nil {
            members.append(
                block("\(reactor.modifier)static var isReacting: Swift.Bool", ["true"]))
        }
        let documentation = docComment(reactor.declaration)
        if !documentation.isEmpty, reactor.properties["documentation"] == nil {
            members.append(
                block(
                    "\(reactor.modifier)static var documentation: Swift.String",
                    [stringLiteral(documentation)]))
        }
        if reactor.canMakeItself, reactor.functions(named: "makeForMirror").isEmpty {
            members.append(
                block("\(reactor.modifier)static func makeForMirror() -> Self", ["Self()"]))
        }
        return members
    }
}

extension ReactorMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard member.is(StructDeclSyntax.self) || member.is(EnumDeclSyntax.self),
            let group = member.asProtocol((any DeclGroupSyntax).self),
            let named = member.asProtocol((any NamedDeclSyntax).self),
            ReactorType.parts.contains(plainName(named.name)), !codesItself(group)
        else { return [] }
        return ["@WireCodable"]
    }

    /// Whether the author already said how the type is coded.
    private static func codesItself(_ type: any DeclGroupSyntax) -> Bool {
        let isMarked = type.attributes.contains { element in
            guard case .attribute(let attribute) = element else { return false }
            return attributeName(attribute) == "WireCodable"
        }
        let inherited = type.inheritanceClause?.inheritedTypes ?? []
        return isMarked
            || inherited.contains { $0.type.trimmedDescription.hasSuffix("WireCodable") }
    }
}

extension ReactorMacro: ExtensionMacro {
    /// The protocols that the extension conforms a type to; the second where it makes itself.
    static var conformances: [TypeSyntax] { ["Reactor", "MirrorableReactor"] }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let silent = SilentContext(context)
        guard let reactor = ReactorType(declaration, in: silent),
            ReactorChecks(reactor: reactor, context: silent).run()
        else { return [] }
        let isMirrorable =
            reactor.canMakeItself || !reactor.functions(named: "makeForMirror").isEmpty
        let wanted = protocols.map(lastName).filter { isMirrorable || $0 == "Reactor" }
        guard !wanted.isEmpty else { return [] }
        let text = "extension \(type.trimmed): \(wanted.joined(separator: ", ")) {}"
        let declaration = DeclSyntax(stringLiteral: text).as(ExtensionDeclSyntax.self)
        return declaration.map { [$0] } ?? []
    }
}
